import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { testRecipe } from './suite.js';

// The optimising compiler would use more time on PGlite's WebAssembly than these tests take.
setFlagsFromString('--liftoff-only');
const recipe = await import('../pglite.js');
const { db } = recipe;
await db.exec(readFileSync(new URL('../tables/postgres.sql', import.meta.url), 'utf8'));

testRecipe('PGlite', recipe, {
  createOrder: ({ reference, amount, currency }) =>
    db.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
      reference,
      amount,
      currency,
    ]),
  later: {
    edit: (reference) =>
      db.query('UPDATE orders SET created_at = created_at WHERE reference = $1', [reference]),
    refund: (reference) =>
      db.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
});
