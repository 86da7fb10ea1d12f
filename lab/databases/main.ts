/**
 * Races and kills each recipe of examples/databases on its real engine, and writes the table of
 * docs/databases.md:
 *
 *     pnpm lab databases                    a few races and kills
 *     pnpm lab databases --long             50 races of 20 calls and 100 kills each, and the table
 *     pnpm lab databases --long --only pg,prisma      the same for these recipes and their rows
 */
import { buildBetterSqlite3 } from '../../examples/databases/test/build-better-sqlite3.js';
import { writeBetweenMarks } from '../docs-page.js';
import { readOptions } from '../options.js';
import { ENGINES } from './engines.js';
import { raceRecipe, type Tally } from './races.js';
import { NOT_RACED, RECIPES, type RecipeRow } from './recipes.js';

const { values } = readOptions({
  options: {
    races: { type: 'string', default: '50' },
    kills: { type: 'string', default: '100' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const size = { races: Number(values.races), kills: Number(values.kills) };

await import('../../examples/databases/generate.mjs');
buildBetterSqlite3();
const only = values.only?.split(',');
/** The rows of this run, by recipe. */
const rows = new Map<string, string>();
let faults = 0;
for (const [database, start] of Object.entries(ENGINES)) {
  const recipes = RECIPES.filter(
    (row) => row.database === database && (only?.includes(row.file) ?? true),
  );
  if (recipes.length === 0) continue;
  const engine = await start();
  for (const recipe of recipes) {
    const started = performance.now();
    const tally = await raceRecipe(recipe.file, engine, size);
    faults += tally.lost + tally.doubled;
    const line = lineOf(recipe, engine.name, tally);
    rows.set(recipe.file, line);
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(`${line} ${seconds} s`);
    if (values.write) await writeBetweenMarks('databases.md', 'table', tableAfter);
  }
  await engine.close();
}
console.log(`${rows.size} recipes, ${faults} faults`);
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

/** Keeps the rows of recipes that this run left out or has not reached. */
function tableAfter(before: string): string {
  const kept = before.split('\n');
  const raced = RECIPES.map(
    ({ file }) => rows.get(file) ?? kept.find((line) => line.includes(`/${file}.ts)`)),
  );
  const others = NOT_RACED.map(
    ([database, library, file, engine]) =>
      `| ${database} | ${library} | ${linkTo(file)} | ${engine} | – | – | – |`,
  );
  return [
    '| database | driver or ORM | recipe | run on | races | kills | lost / doubled |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...raced.filter((row) => row !== undefined),
    ...others,
  ].join('\n');
}
