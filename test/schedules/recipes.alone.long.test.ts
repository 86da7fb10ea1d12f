/**
 * The recipes of the documents: none is accused, and two faults of each are found. By default one
 * for each kind of driver. PAYLINK_SCHEDULES=all, as in `pnpm lab full-size`, tries each.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { createPool } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { startPostgres } from '../servers/postgres.js';
import { BROKEN } from './designs.js';
import { explore, removeBundle, shopAt, type Outcome } from './explore.js';

const LIMIT = 120_000;
const EXAMPLES = new URL('../../examples/databases/', import.meta.url);
const tablesOf = (name: string): string =>
  readFileSync(new URL(`tables/${name}.sql`, EXAMPLES), 'utf8');

await import('../../examples/databases/generate.mjs');
const postgres = await startPostgres({ fsync: 'off' });
const mariadb = await startMariaDb({ 'innodb-flush-log-at-trx-commit': 2 });
const client = new Client({ connectionString: postgres.url });
await client.connect();
await client.query(tablesOf('postgres'));
await client.query(tablesOf('postgres-variants'));
await client.query("INSERT INTO wallets VALUES ('ada', 0)");
const pool = createPool({ uri: mariadb.url, multipleStatements: true });
await pool.query(tablesOf('mysql'));
await pool.query('CREATE TABLE outbox (kind varchar(9), reference varchar(64))');
// Beside the drivers.
mkdirSync(new URL('.cache', EXAMPLES), { recursive: true });
const folder = mkdtempSync(fileURLToPath(new URL('.cache/schedules-', EXAMPLES)));
afterAll(async () => {
  await removeBundle();
  rmSync(folder, { recursive: true });
  await client.end();
  await pool.end();
  await postgres.close();
  await mariadb.close();
});

const INSERT = 'INSERT INTO orders (reference, amount, currency) VALUES';
const EACH_KIND = ['pg-more-writes', 'prisma', 'typeorm', 'mysql2'];
const RECIPES: Record<string, readonly string[]> = {
  postgres: [
    ...['pg', 'pg-more-writes', 'postgres-js', 'drizzle', 'drizzle-more-writes'],
    ...['prisma', 'prisma-more-writes', 'kysely', 'knex', 'typeorm', 'typeorm-more-writes'],
    ...['sequelize', 'mikro-orm'],
  ],
  mariadb: ['mysql2', 'mariadb', 'drizzle-mysql', 'prisma-mysql', 'typeorm-mysql'],
};

const tried = Object.entries(RECIPES)
  .flatMap(([engine, names]) => names.map((name) => [name, engine] as const))
  .filter(([name]) => process.env['PAYLINK_SCHEDULES'] === 'all' || EACH_KIND.includes(name));
const broken = tried.filter(([name]) => !name.endsWith('-more-writes'));

type Options = Parameters<typeof explore>[1];

const textOf = (name: string): string => readFileSync(new URL(`${name}.ts`, EXAMPLES), 'utf8');

/** Bundles a recipe, because each process that is killed has a successor. */
async function bundle(name: string, contents = textOf(name)): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents, loader: 'ts', resolveDir: fileURLToPath(EXAMPLES) },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    logLevel: 'error',
  });
  return pathToFileURL(outfile).href;
}

const exploreOn = (engine: string, design: string, options: Partial<Options>): Promise<Outcome> =>
  explore(design, {
    module: fileURLToPath(design),
    databaseUrl: engine === 'postgres' ? postgres.url : mariadb.url,
    createOrder: ({ reference, amount, currency }) => {
      const values = [reference, amount, currency];
      return engine === 'postgres'
        ? client.query(`${INSERT} ($1, $2, $3)`, values)
        : pool.query(`${INSERT} (?, ?, ?)`, values);
    },
    ...options,
  });

const effectsOn =
  (engine: string): Options['effects'] =>
  async (reference) => {
    if (engine === 'postgres')
      return (await client.query('SELECT 1 FROM outbox WHERE reference = $1', [reference]))
        .rowCount!;
    const [rows] = await pool.query('SELECT 1 FROM outbox WHERE reference = ?', [reference]);
    return (rows as unknown[]).length;
  };

it.each(tried)(
  'accepts the recipe %s on %s',
  { tags: 'Q20', timeout: LIMIT },
  async (name, engine) => {
    const { faults, orders, cuts } = await exploreOn(engine, await bundle(name), {
      effects: name.endsWith('-more-writes') ? effectsOn(engine) : undefined,
    });
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(5);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
);

/** The condition on an unpaid order, as the drivers spell it. */
const UNPAID =
  /\s+AND paid_at IS NULL|, isNull\(table\.paidAt\)|, paidAt: (?:null|IsNull\(\))|, paid_at: null|\.where\('paid_at', 'is', null\)/;

it.each(broken)(
  'tells that the write of %s on %s lost its condition',
  { tags: ['Q20', 'I03'], timeout: LIMIT },
  async (name, engine) => {
    const [before, after] = textOf(name).split(/(?=\bcredit\()/);
    expect(after).toMatch(UNPAID);
    const broken = await bundle(`broken-${name}`, `${before}${after!.replace(UNPAID, '')}`);
    const { faults } = await exploreOn(engine, broken, { only: 'orders' });
    expect(faults).toEqual([expect.stringMatching(BROKEN['a read, then a write'][1])]);
  },
);

it.each(broken)(
  'tells that a receipt of %s on %s is written after the commit',
  { tags: ['Q20', 'I03'], timeout: LIMIT },
  async (name, engine) => {
    const { faults } = await exploreOn(engine, await bundle(name), {
      module: shopAt('receipt-after-recipe'),
      effects: effectsOn(engine),
      only: 'cuts',
    });
    expect(faults).toEqual([expect.stringMatching(BROKEN['a receipt after the commit'][1])]);
  },
);
