/**
 * Races and kills each recipe of examples/databases on its real engine, and writes the table of
 * docs/databases.md:
 *
 *     pnpm lab databases                    a few races and kills
 *     pnpm lab databases --long             50 races of 20 calls and 100 kills each, and the table
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildBetterSqlite3 } from '../../examples/databases/test/build-better-sqlite3.js';
import { ENGINES } from './engines.js';
import { raceRecipe, type Tally } from './races.js';
import { NOT_RACED, RECIPES, type RecipeRow } from './recipes.js';

const { values } = parseArgs({
  options: {
    races: { type: 'string', default: '50' },
    kills: { type: 'string', default: '100' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const size = { races: Number(values.races), kills: Number(values.kills) };
const PAGE = new URL('../../docs/databases.md', import.meta.url);

await import('../../examples/databases/generate.mjs');
buildBetterSqlite3();
const rows: string[] = [];
let faults = 0;
for (const [database, start] of Object.entries(ENGINES)) {
  const recipes = RECIPES.filter(
    (row) => row.database === database && (values.only ?? row.file) === row.file,
  );
  if (recipes.length === 0) continue;
  const engine = await start();
  for (const recipe of recipes) {
    const started = performance.now();
    const tally = await raceRecipe(recipe.file, engine, size);
    faults += tally.lost + tally.doubled;
    rows.push(lineOf(recipe, engine.name, tally));
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(`${rows.at(-1)!} ${seconds} s`);
  }
  await engine.close();
}
for (const [database, library, file, engine] of NOT_RACED)
  rows.push(`| ${database} | ${library} | ${linkTo(file)} | ${engine} | – | – | – |`);
console.log(`${rows.length - NOT_RACED.length} recipes, ${faults} faults`);
if (values.write) writeTable();
process.exitCode = faults === 0 ? 0 : 1;

function lineOf(
  { database, library, file }: RecipeRow,
  engine: string,
  { races, kills, lost, doubled }: Tally,
): string {
  return `| ${database} | ${library} | ${linkTo(file)} | ${engine} | 20 × ${races} | ${kills} | ${lost} / ${doubled} |`;
}

function linkTo(file: string): string {
  return `[${file}.ts](../examples/databases/${file}.ts)`;
}

function writeTable(): void {
  const head = [
    '| database | driver or ORM | recipe | run on | races | kills | lost / doubled |',
    '| --- | --- | --- | --- | --- | --- | --- |',
  ];
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split('<!-- table -->\n');
  const after = rest!.split('<!-- end of table -->')[1]!;
  const table = [...head, ...rows].join('\n');
  writeFileSync(PAGE, `${before!}<!-- table -->\n\n${table}\n\n<!-- end of table -->${after}`);
}
