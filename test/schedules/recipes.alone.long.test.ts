/**
 * The recipes of the documents: none is accused, and two faults of each are found. By default one
 * for each driver that has a wire of its own. PAYLINK_SCHEDULES=all, as in `pnpm lab full-size`,
 * tries each, also those of ORMs.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../../examples/databases/test/dynamodb-local.js';
import { startSupabase } from '../../examples/databases/test/supabase-server.js';
import { BROKEN } from './designs.js';
import { openMariaDb, openPostgres, type Engine } from './engines.js';
import { explore, removeBundle, shopAt, type Outcome } from './explore.js';

const LIMIT = 120_000;
const EXAMPLES = new URL('../../examples/databases/', import.meta.url);
const tablesOf = (name: string): string =>
  readFileSync(new URL(`tables/${name}.sql`, EXAMPLES), 'utf8');

await import('../../examples/databases/generate.mjs');
const postgres = await openPostgres(
  `${tablesOf('postgres')} ${tablesOf('postgres-variants')} INSERT INTO wallets VALUES ('ada', 0)`,
);
const mariadb = await openMariaDb(
  `${tablesOf('mysql')} CREATE TABLE outbox (kind varchar(9), reference varchar(64))`,
);
const supabase = await startSupabase();
const dynamoDb = await startDynamoDbLocal();
Object.assign(process.env, dynamoDb.env, { SUPABASE_SECRET_KEY: supabase.secretKey });
const { db } = await import('../../examples/databases/dynamodb.js');
// Beside the drivers.
mkdirSync(new URL('.cache', EXAMPLES), { recursive: true });
const folder = mkdtempSync(fileURLToPath(new URL('.cache/schedules-', EXAMPLES)));
afterAll(async () => {
  await removeBundle();
  rmSync(folder, { recursive: true });
  db.destroy();
  for (const server of [postgres, mariadb, dynamoDb, supabase]) await server.close();
});

type Options = Omit<Parameters<typeof explore>[1], 'module'>;

const INSERT = 'INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)';
const optionsOf = ({ url, query }: Engine): Options => ({
  databaseUrl: url,
  createOrder: ({ reference, amount, currency }) => query(INSERT, [reference, amount, currency]),
  effects: async (reference) =>
    (await query('SELECT 1 FROM outbox WHERE reference = $1', [reference])).length,
});
/** Each request over HTTP is one transaction, so these make no further writes. */
const ENGINES: Readonly<Record<string, Options>> = {
  postgres: optionsOf(postgres),
  mariadb: optionsOf(mariadb),
  supabase: {
    databaseUrl: supabase.url,
    databaseVariable: 'SUPABASE_URL',
    createOrder: ({ reference, amount, currency }) =>
      supabase.pool.query(INSERT, [reference, amount, currency]),
  },
  dynamodb: {
    databaseUrl: dynamoDb.client.endpoint,
    databaseVariable: 'AWS_ENDPOINT_URL_DYNAMODB',
    createOrder: ({ reference, amount, currency }) =>
      db.put({
        TableName: 'orders',
        Item: { reference, amount, currency, createdAt: Date.now(), unpaid: 'yes' },
      }),
  },
};

/** The designs of `sql.ts` use mysql2, in both of its protocols. */
const EACH_WIRE = ['pg-more-writes', 'postgres-js', 'mariadb', 'supabase', 'dynamodb'];
const RECIPES: Record<string, readonly string[]> = {
  postgres: [
    ...['pg', 'pg-more-writes', 'postgres-js', 'drizzle', 'drizzle-more-writes'],
    ...['prisma', 'prisma-more-writes', 'kysely', 'knex', 'typeorm', 'typeorm-more-writes'],
    ...['sequelize', 'mikro-orm'],
  ],
  mariadb: ['mysql2', 'mariadb', 'drizzle-mysql', 'prisma-mysql', 'typeorm-mysql'],
  supabase: ['supabase'],
  dynamodb: ['dynamodb'],
};

const tried = Object.entries(RECIPES)
  .flatMap(([engine, names]) => names.map((name) => [name, engine] as const))
  .filter(([name]) => process.env['PAYLINK_SCHEDULES'] === 'all' || EACH_WIRE.includes(name));
const broken = tried.filter(([name]) => !name.endsWith('-more-writes'));
const withOutbox = broken.filter(([, engine]) => ENGINES[engine]!.effects !== undefined);

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

const exploreOn = (
  engine: string,
  design: string,
  options: Partial<Parameters<typeof explore>[1]>,
): Promise<Outcome> =>
  explore(design, { module: fileURLToPath(design), ...ENGINES[engine]!, ...options });

it.each(tried)(
  'accepts the recipe %s on %s',
  { tags: 'Q20', timeout: LIMIT },
  async (name, engine) => {
    const hasEffects = name.endsWith('-more-writes');
    const recipe = await bundle(name);
    const { faults, orders, cuts } = await exploreOn(
      engine,
      recipe,
      hasEffects ? {} : { effects: undefined },
    );
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(3);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
);

/** The condition on an unpaid order, as the drivers spell it. */
const UNPAID = new RegExp(
  [
    String.raw`\s+AND paid_at IS NULL|, isNull\(table\.paidAt\)|, paidAt: (?:null|IsNull\(\))`,
    String.raw`, paid_at: null|\.(?:where\('paid_at', 'is', null|is\('paid_at', null)\)`,
    ' AND attribute_not_exists\\(paidAt\\)',
  ].join('|'),
);
/** The write of a delivery in a story. */
const WRITE = /^[AB] {2}(?:UPDATE .* 1 row|PATCH \/rest\/v1\/orders +1 row|UpdateItem$)/im;

it.each(broken)(
  'tells that the write of %s on %s lost its condition',
  { tags: ['Q20', 'I03'], timeout: LIMIT },
  async (name, engine) => {
    const text = textOf(name);
    const credit = text.search(/\bcredit\(|^const isDue/m);
    const after = text.slice(credit);
    expect(after).toMatch(UNPAID);
    const withoutIt = text.slice(0, credit) + after.replace(UNPAID, '');
    const { faults, stories } = await exploreOn(engine, await bundle(`broken-${name}`, withoutIt), {
      effects: undefined,
      only: 'orders',
    });
    expect(faults).toEqual([expect.stringMatching(BROKEN['a read, then a write'][1])]);
    expect(stories[0]).toMatch(WRITE);
    expect(stories[0]).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  },
);

it.each(withOutbox)(
  'tells that a receipt of %s on %s is written after the commit',
  { tags: ['Q20', 'I03'], timeout: LIMIT },
  async (name, engine) => {
    const module = shopAt('receipt-after-recipe');
    const { faults } = await exploreOn(engine, await bundle(name), { module, only: 'cuts' });
    expect(faults).toEqual([expect.stringMatching(BROKEN['a receipt after the commit'][1])]);
  },
);
