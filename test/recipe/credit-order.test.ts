import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { createClient, reconcile, type PaylinkClient, type ReconcileReport } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi, type MockInstance } from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startPostgres } from '../engines/postgres.js';

/** The recipe's own idea of a transaction, which both engines must fit. */
type Tx = Parameters<typeof creditOrder>[0];

interface Engine {
  readonly idempotency: PostgresStore<Tx>;
  query(sql: string, values?: string[]): Promise<{ rows: Record<string, unknown>[] }>;
  close(): Promise<void>;
}

async function onPostgres(): Promise<Engine> {
  const server = await startPostgres({ fsync: 'off' });
  const pool = new Pool({ connectionString: server.url });
  const store = postgresStore(pool);
  await store.migrate();
  return {
    idempotency: store,
    query: (sql, values) => pool.query(sql, values),
    close: async () => {
      await pool.end();
      await server.close();
    },
  };
}

async function onPglite(): Promise<Engine> {
  const db = new PGlite();
  const store = postgresStore(db);
  await store.migrate();
  return { idempotency: store, query: (sql, values) => db.query(sql, values), close: () => db.close() };
}

describe.each([
  ['PostgreSQL', 'integer', onPostgres],
  ['PostgreSQL, with amounts that pg reads as text', 'bigint', onPostgres],
  ['PGlite', 'integer', onPglite],
] as const)('the recipe of the credit on %s', (_name, amountType, open) => {
  let engine: Engine;
  let emulator: Emulator;
  let paylink: PaylinkClient;
  let server: Server;
  let url: string;
  let log: MockInstance;
  let orders = 0;

  beforeAll(async () => {
    engine = await open();
    await engine.query(`CREATE TABLE orders (reference text PRIMARY KEY, amount ${amountType} NOT NULL, paid_at timestamptz)`);
    await engine.query('CREATE TABLE credits (reference text, amount int)');
    emulator = await startEmulator();
    paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
    const app = express();
    app.post(
      '/webhooks/payments',
      paymentWebhook(
        { secret: TEST_SECRET, confirm: paylink, idempotency: engine.idempotency },
        { 'payment.succeeded': (_event, { tx, payment }) => creditAndCount(tx, payment) },
      ),
    );
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
    log = vi.spyOn(console, 'error').mockReturnValue(undefined);
  }, 60_000);
  afterEach(() => log.mockClear());
  afterAll(async () => {
    log.mockRestore();
    server.close();
    server.closeAllConnections();
    await emulator.close();
    await engine.close();
  });

  /** The recipe, and one row for each of its credits. */
  async function creditAndCount(tx: Tx, payment: Parameters<typeof creditOrder>[1]): Promise<void> {
    if (!(await creditOrder(tx, payment))) return;
    await tx.query('INSERT INTO credits VALUES ($1, $2)', [payment.reference, `${payment.amount}`]);
  }

  /** A link of this amount, paid by the customer. */
  async function paid(amount = 50_000): Promise<string> {
    const reference = `order-${++orders}`;
    await paylink.createPaymentLink({ amount, reference, single_use: true });
    await emulator.pay(reference);
    return reference;
  }

  const insert = (reference: string, amount = 50_000) =>
    engine.query('INSERT INTO orders (reference, amount) VALUES ($1, $2)', [reference, `${amount}`]);

  async function deliver(reference: string): Promise<[number, unknown]> {
    const response = await signedDelivery({ secret: TEST_SECRET, reference }).send(url);
    return [response.status, await response.json()];
  }

  const reconciled = (reference: string): Promise<ReconcileReport> =>
    reconcile({
      client: paylink,
      references: [reference],
      idempotency: engine.idempotency,
      onSuccess: (payment, { tx }) => creditAndCount(tx, payment),
    });

  /** What the merchant's books say, and whether the event has a mark. */
  async function booksOf(reference: string): Promise<{ credits: number; paid: boolean; marked: boolean }> {
    const credits = await engine.query('SELECT amount FROM credits WHERE reference = $1', [reference]);
    const [order] = (await engine.query('SELECT paid_at FROM orders WHERE reference = $1', [reference])).rows;
    const { rows } = await engine.query('SELECT 1 FROM paylink_marks WHERE key = sha256($1::text::bytea)', [
      `payment.succeeded:${reference}`,
    ]);
    return { credits: credits.rows.length, paid: order?.['paid_at'] instanceof Date, marked: rows.length > 0 };
  }

  const OK = [200, { received: true }];
  const CREDITED = { credits: 1, paid: true, marked: true };
  const UNTOUCHED = { credits: 0, paid: false, marked: false };

  it('credits a confirmed payment once, however often and at once it is delivered', async () => {
    const reference = await paid();
    await insert(reference);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(reference)));
    expect(answers.filter(([status]) => status !== 200 && status !== 503)).toEqual([]);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('leaves no mark when the notification comes before the order’s row, and credits on the next delivery (N01)', async () => {
    const reference = await paid();
    expect(await deliver(reference)).toEqual([503, { error: 'unknown_order' }]);
    expect(await booksOf(reference)).toEqual(UNTOUCHED);
    await insert(reference);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
    expect((await reconciled(reference)).duplicates).toEqual([reference]);
  });

  it('credits by reconcile where the notification came before the order’s row and never again (N01)', async () => {
    const reference = await paid();
    expect((await deliver(reference))[0]).toBe(503);
    await insert(reference);
    expect((await reconciled(reference)).credited).toEqual([reference]);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('refuses and logs the stale link of 500 that would mark an order of 50,000 as paid', async () => {
    const reference = await paid(500);
    await insert(reference, 50_000);
    expect(await deliver(reference)).toEqual([409, { error: 'amount_differs' }]);
    expect(await booksOf(reference)).toEqual(UNTOUCHED);
    expect(log.mock.calls).toEqual([[`order ${reference} is not credited: 500 was paid, the order says 50000`]]);
    const { errors } = await reconciled(reference);
    expect(errors).toMatchObject([{ reference, error: { code: 'amount_differs' } }]);
    // The merchant takes the payment for what it is.
    await engine.query('UPDATE orders SET amount = 500 WHERE reference = $1', [reference]);
    expect((await reconciled(reference)).credited).toEqual([reference]);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('acknowledges an order that was paid by hand, without a second credit', async () => {
    const reference = await paid();
    await insert(reference);
    await engine.query('UPDATE orders SET paid_at = now() WHERE reference = $1', [reference]);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual({ credits: 0, paid: true, marked: true });
    expect(log.mock.calls).toEqual([]);
  });

  it('credits nothing again when the mark of a replayed delivery was deleted (H01)', async () => {
    const reference = await paid();
    await insert(reference);
    expect(await deliver(reference)).toEqual(OK);
    await engine.query('DELETE FROM paylink_marks');
    // Empties what the process itself remembers for some seconds.
    await engine.idempotency.forget({ olderThan: new Date(0) });
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('credits by reconcile what was never delivered, and nothing again when it is delivered late (H08)', async () => {
    const reference = await paid();
    await insert(reference);
    expect((await reconciled(reference)).credited).toEqual([reference]);
    expect(await deliver(reference)).toEqual(OK);
    expect((await reconciled(reference)).duplicates).toEqual([reference]);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });
});
