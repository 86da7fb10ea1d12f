import { PGlite, type Transaction } from '@electric-sql/pglite';
import { createReceiver } from '@paylink/core';
import { postgresStore } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { latch, neverAborted } from './shop.js';

let db: PGlite;
beforeAll(async () => {
  db = new PGlite();
  await postgresStore(db).migrate();
  await db.exec('CREATE TABLE orders (reference text PRIMARY KEY, credited int NOT NULL DEFAULT 0)');
}, 120_000);
afterAll(() => db.close());

let orders = 0;
async function order(): Promise<string> {
  const reference = `order-${(orders += 1)}`;
  await db.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
  return reference;
}

async function creditsOf(reference: string): Promise<number> {
  const { rows } = await db.query<{ credited: number }>('SELECT credited FROM orders WHERE reference = $1', [reference]);
  return rows[0]!.credited;
}

async function credit(tx: Transaction, reference: string): Promise<void> {
  await tx.query('UPDATE orders SET credited = credited + 1 WHERE reference = $1', [reference]);
}

function receiver(handler: (tx: Transaction, reference: string, signal: AbortSignal) => unknown, handlerTimeout = 20_000) {
  const store = postgresStore(db);
  const quiet = { error: () => undefined, warn: () => undefined };
  const made = createReceiver(
    { secret: TEST_SECRET, idempotency: store, handlerTimeout, logger: quiet },
    { 'payment.succeeded': ({ reference }, { tx, signal }) => handler(tx, reference, signal) },
  );
  return async (reference: string): Promise<number> => {
    const { headers, rawBody } = signedDelivery({ secret: TEST_SECRET, reference });
    const delivery = { method: 'POST', header: (name: string) => headers[name], body: () => Promise.resolve(rawBody) };
    return (await made.receive(delivery, {})).status;
  };
}

describe('a store on PGlite', () => {
  it('credits a delivery once, however often and at once it comes (H01, H02)', async () => {
    const handler = vi.fn(credit);
    const deliver = receiver(handler);
    const reference = await order();
    const statuses = await Promise.all(Array.from({ length: 30 }, () => deliver(reference)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await deliver(reference)).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(await creditsOf(reference)).toBe(1);
  });

  it('is never done when the handler has swallowed an SQL error (I02)', async () => {
    const reference = await order();
    const deliver = receiver(async (tx) => {
      await credit(tx, reference);
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    expect(await deliver(reference)).toBe(503);
    expect(await creditsOf(reference)).toBe(0);
  });

  it.each(['tx.rollback()', 'ROLLBACK', 'ROLLBACK; BEGIN'])('is never done when the handler has said %s (I02)', async (how) => {
    const reference = await order();
    const store = postgresStore(db);
    const run = store.run(
      reference,
      async ({ tx }) => {
        await credit(tx, reference);
        await (how === 'tx.rollback()' ? tx.rollback() : tx.exec(how));
      },
      { signal: neverAborted },
    );
    await expect(run).rejects.toThrow();
    expect(await store.isDone(reference)).toBe(false);
    expect(await creditsOf(reference)).toBe(0);
    expect(await receiver(credit)(reference)).toBe(200);
  });

  it('rolls back a handler whose time is over, and refuses what it does late (G03)', async () => {
    const reference = await order();
    const controller = new AbortController();
    const tried = latch();
    let refused: unknown;
    const run = postgresStore(db).run(
      `payment.succeeded:${reference}`,
      async ({ tx }) => {
        await credit(tx, reference);
        controller.abort(new Error('over'));
        refused = await credit(tx, reference).catch((error: unknown) => error);
        tried.open();
      },
      { signal: controller.signal },
    );
    await expect(run).rejects.toThrow('over');
    await tried.opened;
    expect(refused).toMatchObject({ message: expect.stringContaining('the transaction is over') as string });
    expect(await creditsOf(reference)).toBe(0);
    expect(await receiver(credit)(reference)).toBe(200);
    expect(await creditsOf(reference)).toBe(1);
  });

  it('never runs a handler whose time was over before its turn came (I06)', async () => {
    const [first, second] = [await order(), await order()];
    const { opened, open } = latch();
    const atIt = latch();
    const slow = receiver(async (tx) => {
      await credit(tx, first);
      atIt.open();
      await opened;
    })(first);
    await atIt.opened;
    const handler = vi.fn(credit);
    const controller = new AbortController();
    const store = postgresStore(db);
    const waiting = store.run(second, ({ tx }) => handler(tx, second), { signal: controller.signal });
    controller.abort(new Error('over'));
    // At once, and not when the one before it ends.
    await expect(waiting).rejects.toThrow('over');
    open();
    expect(await slow).toBe(200);
    expect([await creditsOf(first), await creditsOf(second)]).toEqual([1, 0]);
    expect(handler).not.toHaveBeenCalled();
    expect(await receiver(credit)(second)).toBe(200);
  });
});
