import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { expectNothingAmiss } from '../../test/adapters/watch.js';
import { mustStaySecret } from '../../test/adapters/secrets.js';
import { creditOrder, type Queryable } from './credit-order.js';
import { SECRET } from './delivery.js';
import { isAcknowledged } from './sender.js';
import { paidService } from './service.js';
import { Shop } from './shop.js';
import { commits, type Fault } from './wire-proxy.js';

/** For faults without an answer, so that the test need not wait long. */
const SHORT_TIMEOUT = 1_000;
/** For faults with an answer, which may take a busy machine over a second. */
const DEFAULT_TIMEOUT = 25_000;

let server: PostgresServer;
let shop: Shop;
/** The number of started credits, and the credit's further work. */
let credited = 0;
let besides: (tx: Queryable, reference: string) => Promise<void>;
beforeAll(async () => {
  server = await startPostgres({ deadlock_timeout: '50ms', fsync: 'off' });
}, 60_000);
afterAll(() => server.close());
afterEach(async () => {
  await shop.close();
  expectNothingAmiss();
});

/** Opens a shop for each test of a block, with this time limit for the credit. */
function openShops(handlerTimeout: number): void {
  beforeEach(async () => {
    mustStaySecret(SECRET);
    credited = 0;
    besides = async () => undefined;
    shop = await Shop.open(server, {
      webhook: (pool) =>
        paymentWebhook(
          { secret: SECRET, handlerTimeout },
          createPayments({
            client: paidService,
            // Longer than the credit's limit, so that it ends no running transaction.
            store: postgresStore(pool, { idleTimeout: 2 * handlerTimeout }),
            credit: async (payment, { tx }) => {
              credited += 1;
              await besides(tx, payment.reference);
              return creditOrder(tx, payment);
            },
          }),
        ),
    });
  });
}

/** Returns the statements of one delivery without a fault. */
async function statementsOfOne(): Promise<readonly string[]> {
  await shop.notify(await shop.order());
  shop.proxy.statements.length = 0;
  expect(await shop.notify(await shop.order())).toBe(200);
  const statements = [...shop.proxy.statements];
  // The look for the mark, BEGIN with the claim, the credit's two, and the mark with COMMIT.
  expect(statements).toHaveLength(5);
  expect(statements.filter(commits)).toHaveLength(1);
  return statements;
}

interface Struck {
  readonly sql: string;
  readonly status: number;
  /** The number of credits when the reply arrived. */
  readonly credits: number;
}

/** Returns a statement without the parts that differ between orders. */
const shapeOf = (sql: string | undefined): string | undefined =>
  sql?.replace(/\d[\da-f]*|\b[\da-f]{2,}\b|-/g, '');

/** Applies the fault to each statement in turn, each with its own order. */
async function strikeEach(fault: Fault): Promise<Struck[]> {
  const results: Struck[] = [];
  for (const [number, sql] of (await statementsOfOne()).entries()) {
    const reference = await shop.order();
    const struck = shop.proxy.strike(number, fault);
    const status = await shop.notify(reference);
    expect(shapeOf(struck.sql)).toBe(shapeOf(sql));
    expect([200, 500, 503], sql).toContain(status);
    results.push({ sql, status, credits: await shop.book.creditsOf(reference) });
    shop.proxy.heal();
    await shop.notifyUntilAcknowledged(reference);
  }
  await shop.expectAtRest();
  return results;
}

describe('a store that fails at one statement, each in turn', () => {
  openShops(SHORT_TIMEOUT);

  it.each<[string, Fault]>([
    [
      'never acknowledges without a credit when the connection breaks before the statement',
      { kind: 'cut-before' },
    ],
    [
      'never acknowledges without a credit when it breaks after, and the outcome is unknown',
      { kind: 'cut-after' },
    ],
    [
      'never acknowledges without a credit when the statement is never answered',
      { kind: 'silent-before' },
    ],
    [
      'never acknowledges without a credit when it is done and never answered',
      { kind: 'silent-after' },
    ],
    [
      'never acknowledges without a credit when the disk is full',
      { kind: 'error', code: '53100', at: 'first' },
    ],
    [
      'never acknowledges without a credit when it is full at the last statement of a message',
      { kind: 'error', code: '53100', at: 'last' },
    ],
  ])(
    '%s, and credits once when the fault is over',
    async (_title, fault) => {
      const results = await strikeEach(fault);
      // Every failure must be refused, so that the sender retries.
      expect(results.filter(({ status }) => isAcknowledged(status))).toEqual([]);
    },
    60_000,
  );

  it('credits once when the host of a receiver was lost, as soon as the server has given up its transaction', async () => {
    const results = await strikeEach({ kind: 'lost-after' });
    expect(results.filter(({ status }) => isAcknowledged(status))).toEqual([]);
    // Only COMMIT leaves no lock for the next delivery to wait for.
    expect(shop.sender.attempts.refused).toBeGreaterThan(2 * results.length);
  }, 60_000);

  it('acknowledges nothing but what is done when the connection ends with the answer', async () => {
    const results = await strikeEach({ kind: 'end-after' });
    // COMMIT has been answered, and the look for the mark stands alone. A lost connection loses
    // everything in between.
    for (const [number, { sql, status }] of results.entries())
      expect(isAcknowledged(status), sql).toBe(number === 0 || commits(sql));
  });
});

describe('a store that fails for a while', () => {
  openShops(SHORT_TIMEOUT);

  it('refuses with 503 while the store is down, and credits once it is up', async () => {
    const reference = await shop.order();
    shop.proxy.goDown();
    for (let time = 0; time < 3; time += 1) expect(await shop.notify(reference)).toBe(503);
    expect(await shop.book.creditsOf(reference)).toBe(0);
    shop.proxy.heal();
    await shop.notifyUntilAcknowledged(reference);
    await shop.expectAtRest();
  });

  it('refuses with 503 in bounded time while the store takes connections and never answers', async () => {
    const references = await shop.book.addOrders(20);
    shop.proxy.cutAll();
    shop.proxy.door = 'silent';
    expect(
      new Set(await Promise.all(references.map((reference) => shop.notify(reference)))),
    ).toEqual(new Set([503]));
    shop.proxy.heal();
    await Promise.all(references.map((reference) => shop.notifyUntilAcknowledged(reference)));
    await shop.expectAtRest();
  });

  it('outlives a server that ends a connection in the packet that opens it', async () => {
    const references = await shop.book.addOrders(5);
    shop.proxy.cutAll();
    shop.proxy.door = 'ending';
    for (const reference of references) expect(await shop.notify(reference)).toBe(503);
    // Repeats with a connection for the claim, and none for the next attempt.
    for (const reference of references) {
      shop.proxy.heal();
      shop.proxy.fault = () => {
        shop.proxy.door = 'ending';
        return { kind: 'end-after' };
      };
      expect([500, 503]).toContain(await shop.notify(reference));
      expect(await shop.notify(reference)).toBe(503);
    }
    shop.proxy.heal();
    for (const reference of references) await shop.notifyUntilAcknowledged(reference);
    await shop.expectAtRest();
  });

  it('loses nothing and doubles nothing when PostgreSQL itself is killed', async () => {
    const references = await shop.book.addOrders(300);
    const waiting = [...references];
    const lane = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
        await shop.sender.untilAcknowledged(next);
    };
    const paying = Promise.all(Array.from({ length: 10 }, lane));
    for (const left of [250, 150, 50]) {
      await expect.poll(() => waiting.length, { timeout: 20_000, interval: 1 }).toBeLessThan(left);
      await server.kill();
      // The killed server's backends hold its shared memory for a moment.
      await vi.waitFor(() => server.start(), { timeout: 20_000, interval: 50 });
    }
    await paying;
    await shop.book.acknowledgeAll(references);
    expect(await shop.book.verdict()).toMatchObject({
      acknowledged: 300,
      credited: 300,
      lost: 0,
      doubled: 0,
      alien: 0,
    });
    expect(shop.sender.attempts.refused).toBeGreaterThan(0);
    await shop.expectAtRest();
  }, 60_000);
});

describe('a store that answers every time', () => {
  openShops(DEFAULT_TIMEOUT);

  it.each([
    ['40001', 'first'],
    ['40001', 'last'],
    ['40P01', 'first'],
    ['40P01', 'last'],
  ] as const)(
    'runs the work again after %s at the %s statement of a message, and acknowledges',
    async (code, at) => {
      const [look, ...run] = await strikeEach({ kind: 'error', code, at });
      expect(run.filter(({ status }) => status !== 200)).toEqual([]);
      // A single statement cannot conflict and rerun, so its error is the store's.
      expect(look!.status).toBe(503);
    },
  );

  it('acknowledges when the statement is only slow', async () => {
    const results = await strikeEach({ kind: 'slow', milliseconds: SHORT_TIMEOUT / 20 });
    expect(results.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it.each([
    ['40001', 'at COMMIT', commits, 503],
    ['40P01', 'at COMMIT', commits, 503],
    // The credit throws its own error.
    [
      '40P01',
      "at the credit's statement",
      (sql: string) => sql.startsWith('INSERT INTO credits'),
      500,
    ],
  ] as const)(
    'gives up after a few times when %s does not end %s, and credits later',
    async (code, _, isStruck, status) => {
      const reference = await shop.order();
      shop.proxy.fault = (sql) => (isStruck(sql) ? { kind: 'error', code, at: 'last' } : undefined);
      expect(await shop.notify(reference)).toBe(status);
      expect(credited).toBeGreaterThan(1);
      expect(credited).toBeLessThanOrEqual(4);
      expect(await shop.book.creditsOf(reference)).toBe(0);
      shop.proxy.heal();
      await shop.notifyUntilAcknowledged(reference);
    },
  );
});

describe('transactions that really lock each other out', () => {
  openShops(DEFAULT_TIMEOUT);

  it('acknowledges both orders after a deadlock, which the server ends by failing one', async () => {
    const [first, second] = await shop.book.addOrders(2);
    const lock = (tx: Queryable, reference: string) =>
      tx.query('SELECT FROM orders WHERE reference = $1 FOR UPDATE', [reference]);
    let holding = 0;
    let bothHold!: () => void;
    const both = new Promise<void>((resolve) => (bothHold = resolve));
    let notified: Promise<number>[] = [];
    besides = async (tx, reference) => {
      // The failed delivery reruns after the other one is done, so that it cannot come between its
      // locks again.
      if (holding === 2) {
        await Promise.race(notified);
        return;
      }
      await lock(tx, reference);
      holding += 1;
      if (holding === 2) bothHold();
      await both;
      await lock(tx, reference === first ? second! : first!);
    };
    notified = [shop.notify(first!), shop.notify(second!)];
    expect(await Promise.all(notified)).toEqual([200, 200]);
    expect(credited).toBe(3);
  });

  it('credits once where every transaction is serializable, and some fail for it', async () => {
    await shop.book.query(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$",
    );
    const references = await shop.book.addOrders(40);
    // Each delivery reads rows that the others write.
    besides = async (tx) => {
      await tx.query('SELECT sum(amount) FROM credits');
    };
    await Promise.all(references.map((reference) => shop.notifyUntilAcknowledged(reference)));
    expect(credited).toBeGreaterThan(40);
    await shop.book.acknowledgeAll(references);
    expect(await shop.book.verdict()).toMatchObject({
      credited: 40,
      lost: 0,
      doubled: 0,
      alien: 0,
    });
    await shop.expectAtRest();
  });
});
