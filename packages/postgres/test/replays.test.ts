import { postgresStore } from '@paylink/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Marks } from '../src/marks.js';
import { credit, keyOf, receiverOn, runOf, Shop, silent as logger, type Tx } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(async () => {
  vi.useRealTimers();
  await shop.rest();
});
afterAll(() => shop.close());

async function open() {
  const { pool, proxy } = await shop.faultyPool({ max: 2 });
  const store = postgresStore(pool, { logger });
  const reference = await shop.order();
  const key = keyOf(reference);
  const work = async (tx: Tx): Promise<void> => void (await credit(tx, reference));
  const run = () => store.run(key, work, runOf(reference));
  const deleteMark = () =>
    shop.admin.query("DELETE FROM paylink_marks WHERE key = decode($1, 'hex')", [key]);
  return { pool, proxy, store, reference, key, run, deleteMark };
}

describe('a key whose mark is gone', () => {
  it('runs again at once, in the process that credited it too', async () => {
    const { store, run, deleteMark, reference, key } = await open();
    expect(await run()).toBe('done');
    expect([await run(), await store.isDone(key)]).toEqual(['duplicate', true]);
    await deleteMark();
    expect(await store.isDone(key)).toBe(false);
    expect(await run()).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(2);
  });
});

it('a credit is done if the answer to COMMIT is lost', async () => {
  const { proxy, run, store, key, reference } = await open();
  proxy.fault = (sql) => (sql.endsWith('COMMIT') ? { kind: 'cut-after' } : undefined);
  await expect(run()).rejects.toThrow();
  proxy.heal();
  expect([await store.isDone(key), await run()]).toEqual([true, 'duplicate']);
  expect(await shop.creditsOf(reference)).toBe(1);
});

it('a flood of replays shares few reads, and new orders are credited meanwhile', async () => {
  const { pool, proxy, store } = await open();
  const deliver = receiverOn(store, credit);
  await deliver(await shop.order());
  const old = Array.from({ length: 2_000 }, (_, number) => `an old order ${number}`);
  const marks = "INSERT INTO paylink_marks SELECT sha256(('payment.succeeded:' || key)::bytea)";
  await shop.admin.query(`${marks} FROM unnest($1::text[]) AS key`, [old]);
  proxy.statements.length = 0;
  const replays = Promise.all(old.map(deliver));
  const fresh = await shop.order();
  expect(await deliver(fresh)).toBe(200);
  expect(new Set(await replays)).toEqual(new Set([200]));
  expect(proxy.statements.length).toBeLessThan(30);
  expect(await shop.creditsOf(fresh)).toBe(1);
  await shop.expectAtRest(pool);
});

/** Marks whose reads are answered by `answer`: it gets the keys and gives those that are done. */
function marksOf(answer: (keys: readonly string[]) => Promise<readonly string[]>): Marks {
  const query = async (sql: string) => {
    const keys = [...sql.matchAll(/decode\('(.*?)'/g)].map(([, key]) => key!);
    return (await answer(keys)).map((key) => ({ key }));
  };
  return new Marks({ query, execute: () => Promise.resolve() }, { schema: 'public' });
}

it('a read of a database that does not answer ends after ten seconds, with the reason', async () => {
  const pool = shop.pool({ max: 1 });
  const held = await pool.connect();
  const store = postgresStore(pool, { schema: 'public', logger });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const read = store.isDone(keyOf('an order')).catch(String);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await read).toContain('the pool is exhausted: all 1 connections are in use');
  vi.useRealTimers();
  held.release();
  expect(await store.isDone(keyOf('an order'))).toBe(false);
});

describe('shared reads', () => {
  it('are rejected at once above a limit, so that a flood does not fill the memory', async () => {
    const marks = marksOf(() => new Promise(() => undefined));
    const refused = vi.fn();
    for (let time = 0; time < 10_003; time += 1) marks.isDone('a').catch(refused);
    await new Promise(setImmediate);
    expect(refused).toHaveBeenCalledOnce();
    expect(String(refused.mock.calls[0]![0])).toContain('too many deliveries are waiting');
  });

  it('run two at a time, with up to 200 keys, and answer each delivery for its own key', async () => {
    const answers: (() => void)[] = [];
    const asked: (readonly string[])[] = [];
    const isDone = (key: string): boolean => Number(key) % 3 === 0;
    const marks = marksOf((keys) => {
      asked.push(keys);
      return new Promise((resolve) => answers.push(() => resolve(keys.filter(isDone))));
    });
    const keys = Array.from({ length: 450 }, (_, index) => `${index}`);
    const answered = Promise.all(keys.map((key) => marks.isDone(key)));
    await new Promise(setImmediate);
    expect(asked).toEqual([['0'], ['1']]);
    while (answers.length > 0) {
      answers.shift()!();
      await new Promise(setImmediate);
    }
    expect(asked.slice(2)).toEqual([keys.slice(2, 202), keys.slice(202, 402), keys.slice(402)]);
    expect(await answered).toEqual(keys.map(isDone));
  });

  it('report an error only to their own deliveries if they fail', async () => {
    const fault = new Error('down');
    let isDown = true;
    const marks = marksOf((keys) => (isDown ? Promise.reject(fault) : Promise.resolve(keys)));
    const ask = (key: string) => marks.isDone(key).catch((error: unknown) => error);
    expect(await Promise.all(['a', 'b'].map(ask))).toEqual([fault, fault]);
    isDown = false;
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual([true, true, true]);
  });
});
