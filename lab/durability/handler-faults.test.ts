import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments, type CreditResult, type Payments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { expectNothingAmiss } from '../../test/adapters/watch.js';
import { mustStaySecret } from '../../test/adapters/secrets.js';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { creditByRecipe, creditOrder, type Queryable } from './credit-order.js';
import { genuine, SECRET } from './delivery.js';
import { amountOf, paidService, type OrderPayment } from './service.js';
import { Shop } from './shop.js';

const HANDLER_TIMEOUT = 1_000;
/** Silences the store's warnings about intended faults. */
const silent = { warn: () => undefined, error: () => undefined };

interface Context {
  readonly tx: Queryable;
  readonly signal: AbortSignal;
}
type Crediting = (payment: OrderPayment, context: Context) => Promise<CreditResult>;

const well: Crediting = (payment, { tx }) => creditOrder(tx, payment);

let server: PostgresServer;
let shop: Shop;
let credit: Crediting;
beforeAll(async () => {
  server = await startPostgres({ fsync: 'off' });
}, 60_000);
afterAll(() => server.close());
afterEach(async () => {
  await shop.close();
  expectNothingAmiss();
});

async function openShop({ connections = 5, handlerTimeout = HANDLER_TIMEOUT } = {}): Promise<void> {
  mustStaySecret(SECRET);
  credit = well;
  shop = await Shop.open(server, {
    connections,
    webhook: (pool) =>
      paymentWebhook(
        { secret: SECRET, handlerTimeout },
        createPayments({
          client: paidService,
          store: postgresStore(pool, { logger: silent }),
          credit: (payment, context) => credit(payment, context),
        }),
      ),
  });
}

/** Turns a synchronous throw into a rejection. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  await work();
}

/** A promise that the test resolves. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('a credit that fails', () => {
  it('leaves no credit when it throws after it', async () => {
    await openShop();
    const reference = await shop.order();
    credit = async (...call) => {
      await well(...call);
      throw new Error('the mail could not be sent');
    };
    expect(await shop.notify(reference)).toBe(500);
    expect(await shop.book.creditsOf(reference)).toBe(0);
    credit = well;
    await shop.notifyUntilAcknowledged(reference);
    await shop.expectAtRest();
  });

  it('leaves no credit and no connection behind when it never settles', async () => {
    await openShop({ connections: 2 });
    const references = await shop.book.addOrders(4);
    credit = async (...call) => {
      await well(...call);
      return new Promise(() => undefined);
    };
    for (const reference of references) expect(await shop.notify(reference)).toBe(503);
    await shop.expectAtRest();
    expect((await shop.book.verdict()).credited).toBe(0);
    credit = well;
    for (const reference of references) await shop.notifyUntilAcknowledged(reference);
  });

  it('can write nothing after its time is over, to its own order or to that of another', async () => {
    await openShop({ connections: 1 });
    const [late, other] = await shop.book.addOrders(2);
    const otherIsAtIt = gate();
    const lateHasTried = gate();
    const refused: unknown[] = [];
    credit = async (payment, context) => {
      if (payment.reference === other) {
        const result = await well(payment, context);
        otherIsAtIt.open();
        await lateHasTried.opened;
        return result;
      }
      // The other order has the only connection by then.
      await otherIsAtIt.opened;
      for (const sql of [
        "INSERT INTO credits VALUES ('stray', 1)",
        'DELETE FROM credits',
        'ROLLBACK',
        'COMMIT',
      ]) {
        await attempt(() => context.tx.query(sql)).catch((error: unknown) => refused.push(error));
      }
      lateHasTried.open();
      return 1;
    };
    expect(await shop.notify(late!)).toBe(503);
    expect(await shop.notify(other!)).toBe(200);
    expect(refused).toHaveLength(4);
    expect(await shop.book.creditsOf(late!)).toBe(0);
    expect((await shop.book.verdict()).credited).toBe(1);
    credit = well;
    await shop.notifyUntilAcknowledged(late!);
    await shop.expectAtRest();
  });

  it('can write nothing after it has returned, by a write that it did not wait for', async () => {
    await openShop({ connections: 1 });
    const [first, other] = await shop.book.addOrders(2);
    const otherIsAtIt = gate();
    const strayHasTried = gate();
    credit = async (payment, context) => {
      const result = await well(payment, context);
      if (payment.reference === other) {
        otherIsAtIt.open();
        await strayHasTried.opened;
      } else {
        void otherIsAtIt.opened.then(() => {
          void context.tx.query('DELETE FROM credits');
          strayHasTried.open();
        });
      }
      return result;
    };
    expect(await shop.notify(first!)).toBe(200);
    expect(await shop.notify(other!)).toBe(200);
    expect(shop.proxy.statements.filter((sql) => sql.includes('DELETE'))).toEqual([]);
    expect(await shop.book.creditsOf(first!)).toBe(1);
    await shop.expectAtRest();
  });

  it('is not acknowledged when it swallowed an SQL error, since the server answers COMMIT with ROLLBACK', async () => {
    await openShop();
    const reference = await shop.order();
    credit = async (...call) => {
      const result = await well(...call);
      await call[1].tx.query('SELECT 1 / 0').catch(() => undefined);
      return result;
    };
    expect(await shop.notify(reference)).toBe(503);
    expect(await shop.book.creditsOf(reference)).toBe(0);
    credit = well;
    await shop.notifyUntilAcknowledged(reference);
    await shop.expectAtRest();
  });

  it('credits when the sender has gone away, and acknowledges the next delivery', async () => {
    await openShop();
    const reference = await shop.order();
    const begun = gate();
    credit = async (...call) => {
      begun.open();
      return well(...call);
    };
    const request = genuine(reference);
    await shop.sender.abandon(request);
    await begun.opened;
    await vi.waitFor(async () => expect(await shop.book.creditsOf(reference)).toBe(1), {
      timeout: 5_000,
    });
    expect(await shop.notify(reference)).toBe(200);
  });
});

describe('replays', () => {
  it('of a credited order write nothing', async () => {
    await openShop();
    const [reference] = await shop.book.addOrders(1);
    await shop.notifyUntilAcknowledged(reference!);
    const rows = 'SELECT xmin, ctid FROM paylink_marks';
    const before = await shop.book.query(rows);
    for (let time = 0; time < 5; time += 1) expect(await shop.notify(reference!)).toBe(200);
    expect(await shop.book.query(rows)).toEqual(before);
  });

  it('of one slow order, ten at once, leave the pool to the others', async () => {
    await openShop({ connections: 3, handlerTimeout: 10_000 });
    const [slow, ...others] = await shop.book.addOrders(11);
    const slowMayEnd = gate();
    credit = async (payment, context) => {
      if (payment.reference === slow) await slowMayEnd.opened;
      return well(payment, context);
    };
    const replays = Array.from({ length: 10 }, () => shop.notify(slow!));
    await vi.waitFor(() => expect(shop.merchant.pool.totalCount).toBeGreaterThan(0), 10_000);
    for (const reference of others) expect(await shop.notify(reference)).toBe(200);
    slowMayEnd.open();
    for (const status of await Promise.all(replays)) expect([200, 503]).toContain(status);
    await shop.notifyUntilAcknowledged(slow!);
    await shop.expectAtRest();
  });
});

describe('with the service asked', () => {
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await startEmulator();
  });
  afterEach(() => emulator.close());

  async function openAskingShop(baseUrl = emulator.baseUrl, connections = 5) {
    mustStaySecret(SECRET);
    mustStaySecret(emulator.apiKey);
    const client = createClient({ baseUrl, apiKey: emulator.apiKey, retries: 0 });
    let payments!: Payments;
    shop = await Shop.open(server, {
      connections,
      webhook: (pool) => {
        payments = createPayments({
          client,
          store: postgresStore(pool),
          credit: (payment, { tx }) => creditByRecipe(tx, payment),
        });
        return paymentWebhook({ secret: SECRET, handlerTimeout: 15_000 }, payments);
      },
    });
    /** Creates payment links, as the shop does at checkout. */
    const createLinks = async (references: readonly string[]): Promise<void> => {
      for (const reference of references) {
        const amount = amountOf(Number(reference.replace('order-', '')));
        await client.createPaymentLink({ amount, reference, description: 'A basket' });
      }
    };
    return { client, createLinks, payments };
  }

  it('credits a payment that failed first and succeeded later', async () => {
    const { createLinks } = await openAskingShop();
    const reference = await shop.order();
    await createLinks([reference]);
    expect(await shop.notify(reference)).toBe(503);
    await emulator.fail(reference);
    expect(await shop.sender.attempt(genuine(reference))).toBe(200);
    expect(await shop.book.creditsOf(reference)).toBe(0);
    await emulator.pay(reference);
    await shop.notifyUntilAcknowledged(reference);
  });

  it('credits once when reconcile, the return page and a late notification come at once', async () => {
    const { createLinks, payments } = await openAskingShop();
    const references = await shop.book.addOrders(20);
    await createLinks(references);
    for (const reference of references) await emulator.pay(reference);
    const [report, ...pages] = await Promise.all([
      payments.reconcile(references, { concurrency: 4 }),
      ...references.map((reference) => payments.settle(reference)),
      ...references.map((reference) => shop.notifyUntilAcknowledged(reference)),
    ]);
    expect(report.errors).toEqual([]);
    const settled = pages.filter((page) => page !== undefined);
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['success']));
    await shop.book.acknowledgeAll(references);
    expect(await shop.book.verdict()).toMatchObject({
      credited: 20,
      lost: 0,
      doubled: 0,
      alien: 0,
    });
    await shop.expectAtRest();
  });

  it('leaves a paid order whose row is not there yet to the next notification, return page and reconcile', async () => {
    const { createLinks, payments } = await openAskingShop();
    const reference = 'order-500';
    await createLinks([reference]);
    await emulator.pay(reference);
    const unknown = expect.objectContaining({ code: 'unknown_order' }) as unknown;
    expect(await shop.notify(reference)).toBe(503);
    await expect(payments.settle(reference)).rejects.toEqual(unknown);
    expect((await payments.reconcile([reference])).errors).toEqual([{ reference, error: unknown }]);
    await shop.book.query('INSERT INTO orders (reference, amount) VALUES ($1, $2)', [
      reference,
      amountOf(500),
    ]);
    expect(await payments.settle(reference)).toEqual({ status: 'success', credited: true });
    expect(await payments.reconcile([reference])).toMatchObject({
      errors: [],
      duplicates: [reference],
    });
    await shop.notifyUntilAcknowledged(reference);
  });

  it('leaves the pool idle while the service hangs, and refuses with 503', async () => {
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const asked = new Set<Socket>();
    hanging.on('connection', (socket) => {
      asked.add(socket);
      socket.on('error', () => undefined);
    });
    await openAskingShop(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}/api`, 2);
    const references = await shop.book.addOrders(10);
    const notifying = references.map((reference) => shop.notify(reference));
    await vi.waitFor(() => expect(asked.size).toBe(10), { timeout: 10_000 });
    await shop.expectAtRest();
    for (const socket of asked) socket.destroy();
    expect(new Set(await Promise.all(notifying))).toEqual(new Set([503]));
    expect((await shop.book.verdict()).credited).toBe(0);
    hanging.close();
  });
});
