import { afterEach, describe, expect, it, vi } from 'vitest';
import type { IoredisClient, NodeRedisClient } from '../src/client.js';
import { redisStore } from '../src/index.js';

const never = new AbortController().signal;
const noAnswer = (): Promise<never> => new Promise(() => undefined);

/** Stands in for a Redis far away that answers every script by this. */
function ioredis(evaluate: IoredisClient['eval']): IoredisClient {
  return {
    get: () => Promise.resolve(null),
    set: () => Promise.resolve('OK'),
    eval: evaluate,
    evalsha: noAnswer,
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('redisStore with a client', () => {
  const [get, set, evaluate, evalsha] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];

  it.each<[string, object]>([
    ['without get', { set, eval: evaluate, evalsha }],
    ['without set', { get, eval: evaluate, evalsha }],
    ['without eval', { get, set, evalsha }],
    ['without eval, of node-redis', { get, set, evalSha: evalsha }],
    ['without a call by digest', { get, set, eval: evaluate }],
  ])('rejects a client of neither library: %s', (_, client) => {
    expect(() => redisStore(client as NodeRedisClient)).toThrow(
      expect.objectContaining({ option: 'client' }) as Error,
    );
  });

  it('rejects a client of Upstash, and names the client to use', () => {
    const upstash = { get, set, eval: evaluate, evalsha, createScript: vi.fn() };
    expect(() => redisStore(upstash)).toThrow(
      'is @upstash/redis, which speaks HTTP. Use ioredis with the rediss:// URL of the database',
    );
  });

  it.each<[string, unknown, boolean]>([
    ['a text', 'done', true],
    ['bytes', Buffer.from('done'), true],
    ['another text', 'undone', false],
    ['a number', 7, false],
    ['null', null, false],
    ['undefined', undefined, false],
  ])('accepts %s for a key', async (_, value, isDone) => {
    const client = { get: () => Promise.resolve(value), set, eval: evaluate, evalSha: evalsha };
    expect(await redisStore(client).isDone('k')).toBe(isDone);
  });
});

describe('a Redis that stops answering', () => {
  it('costs a run its lease at the end of the lease, even if commands may take longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let calls = 0;
    const client = ioredis(() => ((calls += 1) === 1 ? Promise.resolve('1') : noAnswer()));
    const started = performance.now();
    const working = vi.fn(noAnswer);
    const running = redisStore(client, { leaseMs: 3_000, commandTimeout: 60_000 }).run(
      'k',
      working,
      { signal: never, turn: 't' },
    );
    const lost = running.catch((error: unknown) => [
      (error as Error).message,
      performance.now() - started,
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    // Asked at 1,000 and 2,300.
    expect(await lost).toEqual(['the lease expired before Redis renewed it', 3_000]);
    expect([working.mock.calls.length, calls]).toEqual([1, 3]);
  });

  it('has the same time for a renewal as for any other command', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const asked: number[] = [];
    const started = performance.now();
    const client = ioredis(() =>
      asked.push(performance.now() - started) === 1 ? Promise.resolve('1') : noAnswer(),
    );
    const store = redisStore(client, { leaseMs: 3_000, commandTimeout: 200 });
    const lost = store
      .run('k', noAnswer, { signal: never, turn: 't' })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await lost).toBeInstanceOf(Error);
    // 200 to wait for an answer, and 300 between the questions.
    expect(asked).toEqual([0, 1_000, 1_500, 2_000, 2_500]);
  });
});
