import { PGlite } from '@electric-sql/pglite';
import { postgresStore } from '@paylink/postgres';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keyOf, latch, receiverOn, runOf, silent as logger } from './shop.js';

type Tx = Pick<PGlite, 'query'>;

let db: PGlite;
beforeAll(async () => {
  db = new PGlite();
  await postgresStore(db).migrate();
  await db.exec('CREATE TABLE orders (reference text PRIMARY KEY, credited int DEFAULT 0)');
}, 120_000);
afterAll(() => db.close());

let orders = 0;
async function order(): Promise<string> {
  const reference = `order-${(orders += 1)}`;
  await db.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
  return reference;
}

async function creditsOf(reference: string): Promise<number> {
  const sql = 'SELECT credited FROM orders WHERE reference = $1';
  return (await db.query<{ credited: number }>(sql, [reference])).rows[0]!.credited;
}

async function credit(tx: Tx, reference: string): Promise<number> {
  const sql = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';
  return (await tx.query(sql, [reference])).affectedRows ?? 0;
}

const receiver = (work: Parameters<typeof receiverOn<Tx>>[1]) =>
  receiverOn(postgresStore(db, { logger }), work);

describe('a store on PGlite', () => {
  it('credits a delivery once, even if it comes often and at once', async () => {
    const crediting = vi.fn(credit);
    const deliver = receiver(crediting);
    const reference = await order();
    const statuses = await Promise.all(Array.from({ length: 30 }, () => deliver(reference)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await deliver(reference)).toBe(200);
    expect(crediting).toHaveBeenCalledTimes(1);
    expect(await creditsOf(reference)).toBe(1);
  });

  it('never marks a credit that swallowed an SQL error', async () => {
    const reference = await order();
    const deliver = receiver(async (tx) => {
      await tx.query('SELECT 1 / 0').catch(() => undefined);
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    expect(await receiver(credit)(reference)).toBe(200);
    expect(await creditsOf(reference)).toBe(1);
  });

  it('rejects a credit whose statements outlive it', async () => {
    const reference = await order();
    const deliver = receiver((tx) => {
      void credit(tx, reference);
      return 1;
    });
    expect(await deliver(reference)).toBe(503);
    expect(await creditsOf(reference)).toBe(0);
  });

  it('rejects a credit whose statement comes while the store writes the mark', async () => {
    // As on a PGlite in a worker: each answer takes a turn of the event loop.
    const remote: Pick<PGlite, 'exec' | 'query' | 'transaction'> = {
      exec: (text) => db.exec(text),
      query: (text, values) => db.query(text, values),
      transaction: (work) =>
        db.transaction((tx) => {
          const query: typeof tx.query = async (text, values) => {
            if (text.startsWith('INSERT INTO')) writing.open();
            await new Promise(setImmediate);
            return tx.query(text, values);
          };
          return work({ ...tx, query });
        }),
    };
    const writing = latch();
    const reference = await order();
    const deliver = receiverOn(postgresStore(remote, { logger }), async (tx) => {
      void writing.opened.then(() => tx.query('SELECT 1'));
      return credit(tx, reference);
    });
    expect(await deliver(reference)).toBe(503);
    expect(await creditsOf(reference)).toBe(0);
    expect(await receiver(credit)(reference)).toBe(200);
  });

  it('passes only `query` to the credit, so that it cannot roll back or run scripts', async () => {
    const keys = vi.fn();
    const deliver = receiver((tx, reference) => {
      keys(Object.keys(tx));
      return credit(tx, reference);
    });
    expect(await deliver(await order())).toBe(200);
    expect(keys).toHaveBeenCalledWith(['query']);
  });

  it('rolls back a credit after its time limit, and rejects its late statements', async () => {
    const reference = await order();
    const controller = new AbortController();
    const tried = latch();
    let refused: unknown;
    const work = async (tx: Tx): Promise<void> => {
      await credit(tx, reference);
      controller.abort(new Error('over'));
      await new Promise(setImmediate);
      refused = await credit(tx, reference).catch((error: unknown) => error);
      tried.open();
    };
    const store = postgresStore(db, { logger });
    const run = store.run(keyOf(reference), work, runOf(reference, controller.signal));
    await expect(run).rejects.toThrow('over');
    await tried.opened;
    const message = expect.stringContaining('the transaction is over') as string;
    expect(refused).toMatchObject({ message });
    expect(await creditsOf(reference)).toBe(0);
    expect(await receiver(credit)(reference)).toBe(200);
    expect(await creditsOf(reference)).toBe(1);
  });

  it('never runs a credit whose time limit passed before its turn', async () => {
    const [first, second] = [await order(), await order()];
    const { opened, open } = latch();
    const atIt = latch();
    const slow = receiver(async (tx) => {
      const count = await credit(tx, first);
      atIt.open();
      await opened;
      return count;
    })(first);
    await atIt.opened;
    const crediting = vi.fn(async (tx: Tx) => void (await credit(tx, second)));
    const controller = new AbortController();
    const store = postgresStore(db, { schema: 'public', logger });
    const waiting = store.run(keyOf(second), crediting, runOf(second, controller.signal));
    controller.abort(new Error('over'));
    // At once, not when the run before it ends.
    await expect(waiting).rejects.toThrow('over');
    open();
    expect(await slow).toBe(200);
    expect([await creditsOf(first), await creditsOf(second)]).toEqual([1, 0]);
    expect(crediting).not.toHaveBeenCalled();
    expect(await receiver(credit)(second)).toBe(200);
  });
});
