import { testPaymentStore } from '@paylink/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { identify, memoryStore } from '../src/index.js';
import type { RunResult } from '../src/index.js';
import { Turns, withRetries } from '../src/store.js';
import { failure, tick } from './shop.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const { signal: never } = new AbortController();

testPaymentStore('memoryStore', () => ({ store: memoryStore() }), {
  capability: 'memory',
  runner: { describe, it },
});

describe('memoryStore', () => {
  const done = (store: ReturnType<typeof memoryStore>, key: string) =>
    store.run(key, () => Promise.resolve(), { signal: never, turn: key });

  it('forgets the oldest key past its limit', async () => {
    const store = memoryStore({ limit: 2 });
    for (const key of ['a', 'b', 'c']) expect(await done(store, key)).toBe('done');
    const keys = ['a', 'b', 'c'].map((key) => store.isDone(key));
    expect(await Promise.all(keys)).toEqual([false, true, true]);
  });

  it('warns once per store, and only in production', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    memoryStore();
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    memoryStore();
    memoryStore();
    expect(warn).toHaveBeenCalledTimes(2);
    expect(warn.mock.calls[0]![0]).toMatch(/memoryStore\(\) is not for production/);
  });

  it.each([0, -1, 1.5, '10', null])('rejects the limit %o', (limit) => {
    expect(() => memoryStore({ limit: limit as number })).toThrow(/^limit/);
  });
});

describe('identify', () => {
  it('returns the SHA-256 of the kind and the reference, or of JSON with a tenant', async () => {
    const kind = 'payment.succeeded';
    // printf 'payment.succeeded:order-42' | sha256sum
    const known = 'eb37689482b3bc08d8fc9eb8f0913719d138e879fb9dd5c15853dd3823e94565';
    const alone = await identify({ kind, reference: 'order-42' });
    expect(alone.key).toBe(known);
    expect(await identify({ tenant: false, kind, reference: 'order-42' })).toEqual(alone);
    const tenant = await identify({ tenant: 'acme', kind, reference: 'order-42' });
    // printf '["acme","payment.succeeded","order-42"]' | sha256sum
    expect(tenant.key).toBe('e580702c5ca9d2f8655ed65691df8c914f472f33b41ec0570d844e9c60c6b5f0');
    expect(tenant.turn).not.toBe(alone.turn);
  });

  it('gives each order its own key, and all kinds of one order one turn', async () => {
    const named = [
      { kind: 'a.b', reference: 'c' },
      { kind: 'a', reference: 'b:c' },
      { tenant: 'a', kind: 'b', reference: 'c' },
      { tenant: 'a","b', kind: 'b', reference: 'c' },
      { tenant: 'a', kind: 'b', reference: 'b","c' },
      { tenant: '\ud800', kind: 'b', reference: 'c' },
      { tenant: '\ufffd', kind: 'b', reference: 'c' },
      { kind: 'b', reference: 'C' },
      { kind: 'b', reference: 'c ' },
    ];
    const keys = await Promise.all(named.map(async (name) => (await identify(name)).key));
    expect(new Set(keys).size).toBe(named.length);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
    const turns = ['x', 'y'].map((kind) => identify({ tenant: 'a', kind, reference: 'c' }));
    const [x, y] = await Promise.all(turns);
    expect([x!.turn === y!.turn, x!.key === y!.key]).toEqual([true, false]);
  });
});

describe('withRetries', () => {
  const conflict = new Error('40001');
  const isWorthRetrying = (error: unknown): boolean => error === conflict;

  it('tries three times at most, and only after errors worth a retry', async () => {
    const attempt = vi.fn(() => Promise.reject(conflict));
    expect(await failure(withRetries({ signal: never, isWorthRetrying }, attempt))).toBe(conflict);
    expect(attempt).toHaveBeenCalledTimes(3);
    const other = new Error('other');
    const once = vi.fn(() => Promise.reject(other));
    expect(await failure(withRetries({ signal: never, isWorthRetrying }, once))).toBe(other);
    expect(once).toHaveBeenCalledOnce();
    const second = vi.fn<() => Promise<number>>().mockRejectedValueOnce(conflict);
    second.mockResolvedValueOnce(7);
    expect(await withRetries({ signal: never, isWorthRetrying }, second)).toBe(7);
  });

  it('starts nothing after an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('its time is over');
    const attempt = vi.fn(() => {
      queueMicrotask(() => queueMicrotask(() => controller.abort(reason)));
      return Promise.reject(conflict);
    });
    const error = await failure(
      withRetries({ signal: controller.signal, isWorthRetrying }, attempt),
    );
    expect([reason, conflict]).toContain(error);
    expect(attempt).toHaveBeenCalledOnce();
  });
});

/** Runs in a line. The test decides when each ends, and how. */
function line() {
  const turns = new Turns();
  const started: string[] = [];
  const ends = new Map<string, (end: RunResult | Error) => void>();
  const run = (turn: string, key: string, name: string, signal = never): Promise<unknown> =>
    turns
      .run(turn, key, signal, () => {
        started.push(name);
        return new Promise<RunResult>((resolve, reject) => {
          ends.set(name, (end) => (end instanceof Error ? reject(end) : resolve(end)));
        });
      })
      .catch((error: unknown) => error);
  const end = async (name: string, how: RunResult | Error): Promise<void> => {
    ends.get(name)!(how);
    await tick();
  };
  return { started, run, end };
}

describe('Turns', () => {
  it('runs one attempt of a turn at a time, and runs of other turns beside it', async () => {
    const { started, run, end } = line();
    const results = [run('1', 'a', 'first'), run('1', 'b', 'second'), run('2', 'c', 'beside')];
    expect(started).toEqual(['first', 'beside']);
    await end('first', 'done');
    expect(started).toEqual(['first', 'beside', 'second']);
    await end('second', 'done');
    await end('beside', 'done');
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
  });

  it.each([
    ['done', 'duplicate'],
    ['duplicate', 'duplicate'],
    ['in_progress', 'in_progress'],
  ] as const)(
    'answers waiters of the same key after %s with %s, and no other key',
    async (result, answer) => {
      const { started, run, end } = line();
      const names = ['first', 'again', 'other', 'once more'];
      const results = names.map((name) => run('t', name === 'other' ? 'b' : 'a', name));
      await end('first', result);
      expect(started).toEqual(['first', 'other']);
      await end('other', 'done');
      expect(await Promise.all(results)).toEqual([result, answer, 'done', answer]);
    },
  );

  it('lets the next run try if one fails, of the same key too, and leaves nothing behind', async () => {
    const { started, run, end } = line();
    const fault = new Error('of the credit');
    const results = [run('t', 'a', 'first'), run('t', 'a', 'second'), run('t', 'b', 'third')];
    await end('first', fault);
    expect(started).toEqual(['first', 'second']);
    await end('second', 'done');
    await end('third', 'done');
    expect(await Promise.all(results)).toEqual([fault, 'done', 'done']);
    const again = run('t', 'a', 'again');
    expect(started.at(-1)).toBe('again');
    await end('again', 'done');
    expect(await again).toBe('done');
  });

  it('lets a waiter leave on abort, which never starts', async () => {
    const { started, run, end } = line();
    const controller = new AbortController();
    const reason = new Error('its time is over');
    const first = run('t', 'a', 'first');
    const second = run('t', 'b', 'second', controller.signal);
    const third = run('t', 'c', 'third');
    controller.abort(reason);
    expect(await second).toBe(reason);
    await end('first', 'done');
    expect(started).toEqual(['first', 'third']);
    await end('third', 'done');
    expect(await Promise.all([first, third])).toEqual(['done', 'done']);
    expect(await run('t', 'd', 'refused', controller.signal)).toBe(reason);
  });

  it('does not end a running attempt by an abort, nor a waiter behind it', async () => {
    const { started, run, end } = line();
    const controller = new AbortController();
    const first = run('t', 'a', 'first');
    const second = run('t', 'b', 'second', controller.signal);
    await end('first', 'done');
    const third = run('t', 'c', 'third');
    controller.abort(new Error('too late'));
    expect(started).toEqual(['first', 'second']);
    await end('second', 'done');
    await end('third', 'done');
    expect(await Promise.all([first, second, third])).toEqual(['done', 'done', 'done']);
  });
});
