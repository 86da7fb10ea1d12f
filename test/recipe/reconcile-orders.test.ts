import { readFileSync } from 'node:fs';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcileOrders, type Shop } from '../../examples/queues/src/reconcile-orders.js';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startPostgres, type PostgresServer } from '../engines/postgres.js';

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

/** The table of orders of a quick start, and the table of the cursor of going live. */
const [, ORDERS] = /await pool\.query\(`(CREATE TABLE IF NOT EXISTS orders[^`]*)`\)/.exec(read('start/express.md'))!;
const [, CURSOR] = /^```sql\n(.*?)^```/ms.exec(read('going-live.md'))!;

describe('the reconcile of going live, on the orders of a quick start', () => {
  let server: PostgresServer;
  let emulator: Emulator;
  let shop: Shop;

  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
    const pool = new Pool({ connectionString: server.url });
    const idempotency = postgresStore(pool);
    await idempotency.migrate();
    await pool.query(ORDERS!);
    await pool.query(CURSOR!);
    emulator = await startEmulator();
    shop = { pool, paylink: createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }), idempotency, creditOrder };
  }, 60_000);

  afterAll(async () => {
    await shop.pool.end();
    await emulator.close();
    await server.close();
  });

  /** An order of some time ago, whose link was made and whose notification never came. */
  async function insert(ago: string, isPaid: boolean): Promise<string> {
    const { rows } = await shop.pool.query<{ reference: string }>(
      'INSERT INTO orders (amount, created_at) VALUES (15000, now() - $1::interval) RETURNING reference',
      [ago],
    );
    const { reference } = rows[0]!;
    await shop.paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    if (isPaid) await emulator.pay(reference);
    return reference;
  }

  const paid = async (): Promise<string[]> => {
    const { rows } = await shop.pool.query<{ reference: string }>(
      'SELECT reference FROM orders WHERE paid_at IS NOT NULL ORDER BY id',
    );
    return rows.map(({ reference }) => reference);
  };

  it('credits what was paid and not notified, once, and leaves new and unpaid orders alone', async () => {
    const first = await insert('1 hour', true);
    await insert('1 hour', false);
    const second = await insert('20 minutes', true);
    await insert('1 minute', true);
    expect(await reconcileOrders(shop)).toBe(2);
    expect(await paid()).toEqual([first, second]);
    expect(await reconcileOrders(shop)).toBe(0);
    expect(await paid()).toEqual([first, second]);
  });
});
