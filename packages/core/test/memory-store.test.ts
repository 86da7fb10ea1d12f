import { afterEach, describe, expect, it, vi } from 'vitest';

const { signal } = new AbortController();
const nothing = (): Promise<void> => Promise.resolve();

/** Work that ends when it is told to. */
function held() {
  let finish!: () => void;
  let fail!: (error: Error) => void;
  const end = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { work: () => end, finish, fail };
}

/** A fresh copy of the module, since it warns once for each process. */
const load = async () => {
  vi.resetModules();
  return (await import('../src/index.js')).memoryStore;
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('memoryStore', () => {
  it('runs the work of a key once', async () => {
    const store = (await load())();
    expect(await store.isDone('key')).toBe(false);
    expect(await store.run('key', nothing, { signal })).toBe('done');
    expect(await store.isDone('key')).toBe(true);
    const again = vi.fn(nothing);
    expect(await store.run('key', again, { signal })).toBe('duplicate');
    expect(again).not.toHaveBeenCalled();
  });

  it('says in_progress while the work runs, and runs other keys', async () => {
    const store = (await load())();
    let finish!: () => void;
    const first = store.run('key', () => new Promise((resolve) => (finish = resolve)), { signal });
    expect(await store.run('key', nothing, { signal })).toBe('in_progress');
    expect(await store.run('other', nothing, { signal })).toBe('done');
    finish();
    expect(await first).toBe('done');
  });

  it('runs the keys of one turn one after the other, each with its own result (N06)', async () => {
    const store = (await load())();
    const turn = 'order-42';
    const { work, finish } = held();
    const payment = store.run('payment', work, { signal, turn });
    const refundWork = vi.fn(nothing);
    const refund = store.run('refund', refundWork, { signal, turn });
    const third = store.run('third', nothing, { signal, turn });
    expect(await store.run('other', nothing, { signal, turn: 'order-43' })).toBe('done');
    expect(await store.run('refund', nothing, { signal, turn })).toBe('in_progress');
    expect(refundWork).not.toHaveBeenCalled();
    finish();
    expect(await Promise.all([payment, refund, third])).toEqual(['done', 'done', 'done']);
    expect(refundWork).toHaveBeenCalledOnce();
  });

  it('keeps the turn where a run fails, and where one that waits is aborted', async () => {
    const store = (await load())();
    const turn = 'order-42';
    const { work, fail } = held();
    const controller = new AbortController();
    const first = store.run('first', work, { signal, turn });
    const aborted = store.run('aborted', nothing, { signal: controller.signal, turn });
    controller.abort(new Error('over'));
    await expect(aborted).rejects.toThrow('over');
    const behind = vi.fn(nothing);
    const last = store.run('last', behind, { signal, turn });
    await new Promise((resolve) => setImmediate(resolve));
    expect(behind).not.toHaveBeenCalled();
    fail(new Error('no'));
    await expect(first).rejects.toThrow('no');
    expect(await last).toBe('done');
    expect(await store.run('aborted', nothing, { signal, turn })).toBe('done');
  });

  it('keeps the turn of a run that has come after others, when those before it end', async () => {
    const store = (await load())();
    const turn = 'order-42';
    const [one, two] = [held(), held()];
    const begun = vi.fn();
    const first = store.run('first', one.work, { signal, turn });
    const second = store.run('second', () => (begun(), two.work()), { signal, turn });
    one.finish();
    expect(await first).toBe('done');
    await vi.waitFor(() => expect(begun).toHaveBeenCalled());
    const behind = vi.fn(nothing);
    const third = store.run('third', behind, { signal, turn });
    await new Promise((resolve) => setImmediate(resolve));
    expect(behind).not.toHaveBeenCalled();
    two.finish();
    expect(await Promise.all([second, third])).toEqual(['done', 'done']);
  });

  it('begins at once where nothing of its turn is under way any more', async () => {
    const store = (await load())();
    const turn = 'order-42';
    await store.run('first', nothing, { signal, turn });
    const work = vi.fn(nothing);
    const second = store.run('second', work, { signal, turn });
    expect(work).toHaveBeenCalledOnce();
    expect(await second).toBe('done');
  });

  it('leaves no mark when the work throws, and throws the same object', async () => {
    const store = (await load())();
    const error = new Error('no');
    await expect(store.run('key', () => Promise.reject(error), { signal })).rejects.toBe(error);
    await expect(
      store.run(
        'key',
        () => {
          throw error;
        },
        { signal },
      ),
    ).rejects.toBe(error);
    expect(await store.isDone('key')).toBe(false);
    expect(await store.run('key', nothing, { signal })).toBe('done');
  });

  it('gives the work up on abort, and leaves no mark when it ends later (I06)', async () => {
    const store = (await load())();
    const controller = new AbortController();
    let finish!: () => void;
    const running = store.run('key', () => new Promise((resolve) => (finish = resolve)), { signal: controller.signal });
    controller.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
    finish();
    await nothing();
    expect(await store.isDone('key')).toBe(false);
    const work = vi.fn(nothing);
    await expect(store.run('other', work, { signal: controller.signal })).rejects.toThrow('over');
    expect(work).not.toHaveBeenCalled();
    expect(await store.run('key', nothing, { signal })).toBe('done');
  });

  it('is bounded: past its limit it forgets the oldest', async () => {
    const store = (await load())({ limit: 2 });
    for (const key of ['a', 'b', 'c']) await store.run(key, nothing, { signal });
    expect(await Promise.all(['a', 'b', 'c'].map((key) => store.isDone(key)))).toEqual([false, true, true]);
  });

  it('warns once in production, and not elsewhere (I11)', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    (await load())();
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    const memoryStore = await load();
    memoryStore();
    memoryStore();
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^\[paylink\] memoryStore\(\) forgets/));
  });

  it('remembers one key where that is its limit', async () => {
    const store = (await load())({ limit: 1 });
    for (const key of ['a', 'b']) await store.run(key, nothing, { signal });
    expect(await Promise.all(['a', 'b'].map((key) => store.isDone(key)))).toEqual([false, true]);
  });

  it.each([0, -1, 1.5, Number.NaN, '10'])('refuses the limit %j', async (limit) => {
    const memoryStore = await load();
    expect(() => memoryStore({ limit: limit as number })).toThrow('limit must be a positive whole number');
  });

  it('refuses a misspelt option', async () => {
    const memoryStore = await load();
    expect(() => memoryStore({ limits: 10 } as never)).toThrow('limits is an unknown option. Valid options: limit');
  });
});
