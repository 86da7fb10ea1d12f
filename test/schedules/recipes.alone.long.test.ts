/**
 * The recipes of the documents: none is accused. By default one for each kind of driver.
 * PAYLINK_SCHEDULES=all, as in `pnpm lab full-size`, tries each.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createPool } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { startPostgres } from '../servers/postgres.js';
import { explore } from './explore.js';

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
afterAll(async () => {
  await client.end();
  await pool.end();
  await postgres.close();
  await mariadb.close();
});

const COLUMNS = 'INSERT INTO orders (reference, amount, currency) VALUES';
const EACH_KIND = ['pg-more-writes', 'prisma', 'typeorm', 'mysql2'];
const RECIPES: Record<string, readonly string[]> = {
  postgres: [
    ...['pg', 'pg-more-writes', 'postgres-js', 'drizzle', 'prisma', 'kysely', 'knex'],
    ...['typeorm', 'sequelize', 'mikro-orm'],
  ],
  mariadb: ['mysql2', 'mariadb', 'drizzle-mysql', 'prisma-mysql'],
};

const tried = Object.entries(RECIPES)
  .flatMap(([engine, names]) => names.map((name) => [name, engine] as const))
  .filter(([name]) => process.env['PAYLINK_SCHEDULES'] === 'all' || EACH_KIND.includes(name));

it.each(tried)(
  'Q20 accepts the recipe %s on %s',
  async (name, engine) => {
    const isPostgres = engine === 'postgres';
    const { faults, orders, cuts } = await explore('', {
      module: fileURLToPath(new URL(`${name}.ts`, EXAMPLES)),
      databaseUrl: isPostgres ? postgres.url : mariadb.url,
      createOrder: ({ reference, amount, currency }) =>
        isPostgres
          ? client.query(`${COLUMNS} ($1, $2, $3)`, [reference, amount, currency])
          : pool.query(`${COLUMNS} (?, ?, ?)`, [reference, amount, currency]),
      effects:
        name === 'pg-more-writes'
          ? async (reference) =>
              (await client.query('SELECT 1 FROM outbox WHERE reference = $1', [reference]))
                .rowCount ?? 0
          : undefined,
    });
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(5);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
  LIMIT,
);
