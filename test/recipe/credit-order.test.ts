import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { createClient, type PaylinkClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments, identify, type Payments } from '@paylink/payments';
import { postgresStore, type PostgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import express from 'express';
import { Pool } from 'pg';
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  it,
  vi,
  type MockInstance,
} from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startPostgres } from '../servers/postgres.js';

/** The recipe's transaction type. Both engines' `tx` must match it. */
type Tx = Parameters<typeof creditOrder>[0];

interface Engine {
  readonly store: PostgresStore<Tx>;
  query(sql: string, values?: string[]): Promise<{ rows: Record<string, unknown>[] }>;
  close(): Promise<void>;
}

async function onPostgres(): Promise<Engine> {
  const server = await startPostgres({ fsync: 'off' });
  const pool = new Pool({ connectionString: server.url });
  const store = postgresStore(pool);
  await store.migrate();
  return {
    store,
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
  return { store, query: (sql, values) => db.query(sql, values), close: () => db.close() };
}

describe.each([
  ['PostgreSQL', 'integer', onPostgres],
  ['PostgreSQL, with amounts that pg reads as text', 'bigint', onPostgres],
  ['PGlite', 'integer', onPglite],
] as const)('the credit recipe on %s', (_name, amountType, open) => {
  let engine: Engine;
  let emulator: Emulator;
  let paylink: PaylinkClient;
  let payments: Payments;
  let server: Server;
  let url: string;
  let log: MockInstance;

  beforeAll(async () => {
    engine = await open();
    await engine.query(`CREATE TABLE orders (reference text PRIMARY KEY,
      amount ${amountType} NOT NULL, currency text NOT NULL, paid_at timestamptz)`);
    await engine.query('CREATE TABLE credits (reference text, amount int)');
    emulator = await startEmulator();
    paylink = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
    payments = createPayments({
      client: paylink,
      store: engine.store,
      async credit(payment, { tx }) {
        const credited = await creditOrder(tx, payment);
        if (credited === 'already_credited') return credited;
        const values = [payment.reference, `${payment.amount}`];
        await tx.query('INSERT INTO credits VALUES ($1, $2)', values);
        return credited;
      },
    });
    const app = express();
    app.post('/webhooks/payments', paymentWebhook({ secret: TEST_SECRET }, payments));
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

  /** Creates a paid link of this amount. */
  async function paid(amount = 50_000): Promise<string> {
    const reference = randomUUID();
    await paylink.createPaymentLink({ amount, reference, single_use: true });
    await emulator.pay(reference);
    return reference;
  }

  const insert = (reference: string, amount = 50_000, currency = 'XOF') =>
    engine.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
      reference,
      `${amount}`,
      currency,
    ]);

  async function deliver(reference: string): Promise<[number, unknown]> {
    const response = await signedDelivery({ secret: TEST_SECRET, reference }).send(url);
    return [response.status, await response.json()];
  }

  const settled = (reference: string): Promise<unknown> =>
    payments.settle(reference).catch((error: unknown) => error);

  /** Returns the merchant's books, and the event's mark. */
  async function booksOf(reference: string) {
    const credits = await engine.query('SELECT 1 FROM credits WHERE reference = $1', [reference]);
    const sql = 'SELECT paid_at FROM orders WHERE reference = $1';
    const [order] = (await engine.query(sql, [reference])).rows;
    const { key } = await identify({ kind: 'payment.succeeded', reference });
    const isPaid = order?.['paid_at'] instanceof Date;
    return { credits: credits.rows.length, paid: isPaid, marked: await engine.store.isDone(key) };
  }

  const OK = [200, { received: true }];
  const CREDITED = { credits: 1, paid: true, marked: true };
  const UNTOUCHED = { credits: 0, paid: false, marked: false };

  it('credits a confirmed payment once for many concurrent deliveries', async () => {
    const reference = await paid();
    await insert(reference);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(reference)));
    expect(answers.filter(([status]) => status !== 200 && status !== 503)).toEqual([]);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('leaves no mark for an order without a row, and credits on the next delivery', async () => {
    const reference = await paid();
    expect(await deliver(reference)).toEqual([503, { error: 'unknown_order' }]);
    expect(await booksOf(reference)).toEqual(UNTOUCHED);
    await insert(reference);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
    expect((await payments.reconcile([reference])).duplicates).toEqual([reference]);
  });

  it('credits by reconcile if the only notification came before the row of the order', async () => {
    const reference = await paid();
    expect((await deliver(reference))[0]).toBe(503);
    await insert(reference);
    expect((await payments.reconcile([reference])).credited).toEqual([reference]);
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it.each([
    ['amount', 500, 'XOF'],
    ['currency', 50_000, 'USD'],
  ])(
    'refuses a payment with another %s than the order on every path until the order is changed',
    async (_what, amount, currency) => {
      const reference = await paid();
      await insert(reference, amount, currency);
      expect(await deliver(reference)).toEqual([409, { error: 'amount_differs' }]);
      expect(await settled(reference)).toMatchObject({ code: 'amount_differs', status: 409 });
      const { errors } = await payments.reconcile([reference]);
      expect(errors).toMatchObject([{ reference, error: { code: 'amount_differs' } }]);
      expect(await booksOf(reference)).toEqual(UNTOUCHED);
      const lines = log.mock.calls.map(([line]) => String(line));
      expect(lines).toHaveLength(3);
      for (const line of lines)
        expect(line).toMatch(new RegExp(`409 amount_differs.*${reference}`));
      // The merchant accepts the paid amount.
      const change = "UPDATE orders SET amount = 50000, currency = 'XOF' WHERE reference = $1";
      await engine.query(change, [reference]);
      expect((await payments.reconcile([reference])).credited).toEqual([reference]);
      expect(await booksOf(reference)).toEqual(CREDITED);
    },
  );

  it('credits once if webhook, settle and reconcile run at the same moment', async () => {
    const references = await Promise.all(Array.from({ length: 10 }, () => paid()));
    for (const reference of references) await insert(reference);
    await Promise.all([
      ...references.flatMap((reference) => [deliver(reference), deliver(reference)]),
      ...references.flatMap((reference) => [settled(reference), settled(reference)]),
      payments.reconcile(references),
      payments.reconcile(references),
    ]);
    for (const reference of references) {
      expect(await deliver(reference)).toEqual(OK);
      expect(await settled(reference)).toEqual({ status: 'success', credited: false });
      expect(await booksOf(reference)).toEqual(CREDITED);
    }
    expect((await payments.reconcile(references)).duplicates.toSorted()).toEqual(
      references.toSorted(),
    );
  });

  it('credits by settle before a late notification, which is then a duplicate', async () => {
    const reference = await paid();
    await insert(reference);
    expect(await settled(reference)).toEqual({ status: 'success', credited: true });
    expect(await booksOf(reference)).toEqual(CREDITED);
    expect(await deliver(reference)).toEqual(OK);
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

  it('does not credit a replayed delivery again if its mark was deleted', async () => {
    const reference = await paid();
    await insert(reference);
    expect(await deliver(reference)).toEqual(OK);
    await engine.query('DELETE FROM paylink_marks');
    // The process itself remembers done keys for some seconds.
    await engine.store.forget({ olderThan: new Date(0) });
    expect(await deliver(reference)).toEqual(OK);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });

  it('credits an undelivered payment by reconcile, and ignores a late delivery', async () => {
    const reference = await paid();
    await insert(reference);
    expect((await payments.reconcile([reference])).credited).toEqual([reference]);
    expect(await deliver(reference)).toEqual(OK);
    expect((await payments.reconcile([reference])).duplicates).toEqual([reference]);
    expect(await booksOf(reference)).toEqual(CREDITED);
  });
});
