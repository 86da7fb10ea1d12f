import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { afterAll } from 'vitest';
import { testOnFile } from './on-file.js';
import { testRecipe } from './suite.js';

const open = (file: string): Libsql.Database => new Libsql(file, { timeout: 5_000 });

await testOnFile('libsql', open, () => import('../libsql.js'));

const folder = mkdtempSync(join(tmpdir(), 'paylink-attempts-'));
afterAll(() => rmSync(folder, { recursive: true }));
process.env['DATABASE_FILE'] = join(folder, 'shop.db');
const merchant = open(process.env['DATABASE_FILE']);
const sql = new URL('../tables/sqlite-attempts.sql', import.meta.url);
merchant.exec(readFileSync(sql, 'utf8'));
const addLink = (reference: string, purchase: string): unknown =>
  merchant
    .prepare('INSERT INTO attempts (reference, purchase) VALUES (?, ?)')
    .run(reference, purchase);

testRecipe('libsql with a customer who tries again', await import('../libsql-attempts.js'), {
  createOrder({ reference, amount, currency }) {
    merchant
      .prepare('INSERT INTO purchases (id, amount, currency) VALUES (?, ?, ?)')
      .run(reference, amount, currency);
    addLink(reference, reference);
  },
  later: {
    'another link'(reference) {
      addLink(`${reference} again`, reference);
      return `${reference} again`;
    },
  },
});
