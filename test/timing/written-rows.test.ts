/** What the look for a handler that wrote nothing takes of a delivery: both as CPU time of this process, in alternating rounds. */
import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { readAnswers, WrittenRows } from '../../packages/postgres/src/handler-writes.js';
import { startPostgres, type PostgresServer } from '../engines/postgres.js';

const ROUNDS = 7;
const DELIVERIES = 100;
const LOOKS = 5_000;
const CREDIT = { text: 'UPDATE orders SET paid_at = now() WHERE reference = $1 RETURNING amount', values: ['order-1'] };

let server: PostgresServer;
let pool: Pool;
beforeAll(async () => {
  server = await startPostgres();
  pool = new Pool({ connectionString: server.url, max: 1 });
}, 60_000);
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

/** Microseconds of CPU for one. */
async function cpuOfOne(times: number, act: (index: number) => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < times; index++) await act(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

/** All that is done for one statement of a handler. */
function look(connection: EventEmitter): boolean {
  const rows = new WrittenRows();
  const stop = readAnswers({ connection }, rows);
  rows.sent(CREDIT);
  rows.pending += 1;
  connection.emit('commandComplete', { text: 'UPDATE 1' });
  connection.emit('readyForQuery', { status: 'T' });
  stop();
  return rows.nothing || rows.staysInTransaction;
}

it('takes less than 3 % of the CPU time of a delivery', async () => {
  const store = postgresStore(pool);
  await store.migrate();
  await pool.query('CREATE TABLE orders (reference text PRIMARY KEY, amount bigint NOT NULL, paid_at timestamptz)');
  await pool.query("INSERT INTO orders (reference, amount) VALUES ('order-1', 500)");
  const { signal } = new AbortController();
  const connection = new EventEmitter();

  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const delivery = await cpuOfOne(DELIVERIES, async (index) => {
      const work = async ({ tx }: { readonly tx: { query(query: typeof CREDIT): Promise<unknown> } }) => {
        await tx.query(CREDIT);
      };
      expect(await store.run(`${round}:${index}`, work, { signal })).toBe('done');
    });
    shares.push((await cpuOfOne(LOOKS, () => look(connection))) / delivery);
  }
  const median = shares.sort((a, b) => a - b)[ROUNDS >> 1]!;
  console.log(`the guard's share of a delivery: ${(100 * median).toFixed(2)} %`);
  expect(median).toBeLessThan(0.03);
}, 60_000);
