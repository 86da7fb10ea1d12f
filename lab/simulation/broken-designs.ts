/**
 * Shows that the simulation catches each broken design: `pnpm lab broken-designs`. Prints the first
 * seed that catches it, and what it violates. Exits with 1 if a design is not caught.
 */
import { columns } from '../columns.js';
import { BROKEN } from './designs.js';
import { World } from './world.js';

const MOST_SEEDS = 2_000;

Object.assign(process.env, { NODE_ENV: 'production' });
const rows: (string | number)[][] = [];
for (const [name, design] of Object.entries(BROKEN)) {
  let found: string | undefined;
  for (let seed = 1; seed <= MOST_SEEDS && found === undefined; seed += 1) {
    const [violation] = (await new World(seed, design).run()).violations;
    if (violation !== undefined) rows.push([name, design.what, seed, violation.invariant]);
    found = violation?.invariant;
  }
  if (found === undefined) rows.push([name, design.what, '-', 'NOT CAUGHT']);
}
console.log(columns(['design', 'what it does', 'seed', 'violates'], rows));
const missed = rows.filter(([, , seed]) => seed === '-').length;
console.log(`${rows.length} broken designs, ${rows.length - missed} caught`);
// A timer of the code under test may still wait for minutes.
process.exit(missed > 0 ? 1 : 0);
