import { postgresStore } from '@paylink/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../src/marks.js';
import { RecentlyDone } from '../src/done-keys.js';
import { credit, neverAborted, Shop } from './shop.js';

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
  const store = postgresStore(pool);
  const reference = await shop.order();
  const run = () => store.run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted });
  const deleteMark = () => shop.admin.query(`DELETE FROM paylink_marks WHERE key = decode('${digestOf(reference)}', 'hex')`);
  const reads = () => proxy.statements.filter((sql) => sql.startsWith('SELECT encode')).length;
  return { pool, proxy, store, reference, run, deleteMark, reads };
}

describe('a key that this process has just seen done', () => {
  it('is a duplicate without a statement (H11)', async () => {
    const { proxy, run, store, reference } = await open();
    expect(await run()).toBe('done');
    proxy.statements.length = 0;
    expect([await run(), await store.isDone(reference)]).toEqual(['duplicate', true]);
    expect(proxy.statements).toEqual([]);
  });

  it('runs again five seconds after another session deleted its mark (H01)', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { run, deleteMark, reference } = await open();
    expect(await run()).toBe('done');
    await deleteMark();
    vi.advanceTimersByTime(4_999);
    expect(await run()).toBe('duplicate');
    vi.advanceTimersByTime(1);
    expect(await run()).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(2);
  });

  it('runs again at once when a connection was lost and its mark with it, as after a failover (H01)', async () => {
    const { pool, proxy, run, deleteMark, reference } = await open();
    expect(await run()).toBe('done');
    await deleteMark();
    proxy.cutAll();
    await vi.waitFor(() => expect(pool.totalCount).toBe(0), 10_000);
    expect(await run()).toBe('done');
    expect(await shop.creditsOf(reference)).toBe(2);
  });

  it('runs again at once when the store has forgotten its mark (H01)', async () => {
    const { store, run, reference } = await open();
    expect(await run()).toBe('done');
    await shop.admin.query(
      `UPDATE paylink_marks SET done_at = now() - interval '1 year' WHERE key = decode('${digestOf(reference)}', 'hex')`,
    );
    await store.forget({ olderThan: new Date(Date.now() - 1_000_000) });
    expect(await run()).toBe('done');
  });

  it('is not remembered where the answer to COMMIT is lost (I02, I07)', async () => {
    const { proxy, run, store, reference, reads } = await open();
    proxy.fault = (sql) => (sql.endsWith('COMMIT') ? { kind: 'cut-after' } : undefined);
    await expect(run()).rejects.toThrow();
    proxy.heal();
    expect(await store.isDone(reference)).toBe(true);
    expect(reads()).toBe(1);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('lets many replays share a look, once one of them was found by its claim (H11)', async () => {
    const { pool, proxy, store } = await open();
    const keys = Array.from({ length: 50 }, (_, number) => `an old order ${number}-${Math.random()}`);
    await shop.admin.query('INSERT INTO paylink_marks SELECT sha256(key::bytea) FROM unnest($1::text[]) AS key', [keys]);
    const replay = (key: string) => store.run(key, () => Promise.reject(new Error('ran twice')), { signal: neverAborted });
    expect(await replay(keys[0]!)).toBe('duplicate');
    proxy.statements.length = 0;
    expect(new Set(await Promise.all(keys.map(replay)))).toEqual(new Set(['duplicate']));
    expect(proxy.statements.length).toBeLessThan(5);
    await shop.expectAtRest(pool);
  });

  it('makes the next hundred runs look before they claim, and no more, once it was found by its claim (H11)', async () => {
    const { proxy, store } = await open();
    const old = `an old order ${Math.random()}`;
    await shop.admin.query('INSERT INTO paylink_marks SELECT sha256($1::bytea)', [old]);
    const firstStatementOf = async (reference: string): Promise<string | undefined> => {
      proxy.statements.length = 0;
      await store.run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted });
      return proxy.statements[0]?.slice(0, 5);
    };
    await firstStatementOf(old);
    const first = [];
    for (let run = 0; run < 102; run += 1) first.push(await firstStatementOf(await shop.order()));
    expect(first).toEqual([...Array<string>(100).fill('SELEC'), 'BEGIN', 'BEGIN']);
  });

  it('is looked at without a claim after five seconds, and the runs of other keys claim at once (H11)', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { proxy, run, store } = await open();
    expect(await run()).toBe('done');
    vi.advanceTimersByTime(5_000);
    proxy.statements.length = 0;
    expect(await run()).toBe('duplicate');
    expect(proxy.statements).toEqual([expect.stringMatching(/^SELECT encode/)]);
    proxy.statements.length = 0;
    const other = await shop.order();
    expect(await store.run(other, ({ tx }) => credit(tx, other), { signal: neverAborted })).toBe('done');
    expect(proxy.statements[0]).toMatch(/^BEGIN/);
  });
});

describe('the memory', () => {
  it('holds at most 10,000 keys, and at least the latest 5,000', () => {
    const recent = new RecentlyDone(() => 0);
    for (let number = 0; number < 10_001; number += 1) recent.add(`key ${number}`, recent.era);
    const held = Array.from({ length: 10_001 }, (_, number) => recent.recall(`key ${number}`));
    expect(held.filter(Boolean).length).toBeLessThanOrEqual(10_000);
    expect(held.slice(5_001)).toEqual(Array(5_000).fill('done'));
  });

  it('takes no answer to a question that was asked before a connection was lost or marks were deleted', () => {
    let lost = 0;
    const recent = new RecentlyDone(() => lost);
    const before = recent.era;
    lost += 1;
    recent.add('key', before);
    const beforeForget = recent.era;
    recent.clear();
    recent.add('key', beforeForget);
    expect(recent.recall('key')).toBe(undefined);
  });

  it('remembers nothing where lost connections are not seen', () => {
    const recent = new RecentlyDone(() => undefined);
    recent.add('key', recent.era);
    expect(recent.recall('key')).toBe(undefined);
  });
});
