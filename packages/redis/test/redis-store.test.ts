import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { ConfigurationError } from '@paylink/core';
import { createPayments } from '@paylink/payments';
import { testPaymentStore } from '@paylink/testing';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  DURABLE,
  startRedis,
  withoutRedis,
  type RedisServer,
} from '../../../test/servers/redis.js';
import type { IoredisClient } from '../src/client.js';
import { redisStore, type RedisScope, type RedisStoreOptions } from '../src/index.js';
import { RELEASE } from '../src/scripts.js';
import { connect, LIBRARIES, type Connected } from './clients.js';

const never = new AbortController().signal;
/** The options of a run of `key`, whose turn has the same name. */
const of = (key: string, signal = never) => ({ signal, turn: key });
const skipped = withoutRedis();
/** A third of it is far more than a busy process takes to renew it. */
const LEASE = 3_000;

/** A promise to settle by hand. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise: opened, resolve: open } = promiseWithResolvers();
  return { opened, open };
}

function promiseWithResolvers(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Processes that hold a lease, each killed after its test. */
const holders: ChildProcess[] = [];

async function hold(
  port: number,
  key: string,
  leaseMs: number,
  ...turn: string[]
): Promise<{ holder: ChildProcess; fencingToken: number }> {
  const holder = fork(
    fileURLToPath(new URL('./holder.ts', import.meta.url)),
    [`${port}`, key, `${leaseMs}`, ...turn],
    {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    },
  );
  holders.push(holder);
  const [{ fencingToken }] = (await once(holder, 'message')) as [{ fencingToken: number }];
  return { holder, fencingToken };
}

afterEach(() => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
});

describe.skipIf(skipped).each(LIBRARIES)('the store on Redis, by %s', (library) => {
  let server: RedisServer;
  let connected: Connected;
  let direct: Redis;
  let key: string;
  let count = 0;
  const storeOf = (options?: RedisStoreOptions) => redisStore(connected.client, options);

  beforeAll(async () => {
    server = await startRedis();
    connected = await connect(library, server.port);
    direct = new Redis({ port: server.port, retryStrategy: () => 20 });
    direct.on('error', () => undefined);
  });
  beforeEach(() => {
    key = `${library}-${++count}`;
  });
  afterAll(async () => {
    connected.close();
    direct.disconnect();
    await server.close();
  });

  /** Resolves once a lease has been renewed so often. */
  async function renewals(name: string, times: number): Promise<void> {
    await vi.waitUntil(async () => (await direct.exists(name)) === 1, 10_000);
    let left = await direct.pttl(name);
    for (let count = 0; count < times;) {
      const now = await direct.pttl(name);
      if (now < 0) throw new Error('the lease ran out');
      if (now > left) count += 1;
      left = now;
      await pause(10);
    }
  }

  testPaymentStore(
    'as a store',
    () => {
      const open = () => redisStore(connected.client, { leaseMs: 1_000 });
      return { store: open(), other: open() };
    },
    { capability: 'lease', runner: { describe, it } },
  );

  it('runs the work once, and reports it as done', async () => {
    const store = storeOf();
    const work = vi.fn(() => Promise.resolve());
    expect(await store.isDone(key)).toBe(false);
    expect(await store.run(key, work, of(key))).toBe('done');
    expect(await store.isDone(key)).toBe(true);
    expect(await store.run(key, work, of(key))).toBe('duplicate');
    expect(work).toHaveBeenCalledOnce();
  });

  it('remembers forever: the mark has no expiry, and nothing else stays', async () => {
    await storeOf({ leaseMs: 100 }).run(key, () => Promise.resolve(), of(key));
    expect(await direct.pttl(`paylink:{${key}}`)).toBe(-1);
    expect(await direct.exists(`paylink:{${key}}:turn`)).toBe(0);
    expect(await direct.ttl(`paylink:{${key}}:fence`)).toBeGreaterThan(3_000);
  });

  it('lets one of 50 simultaneous runs work, and answers the others in_progress', async () => {
    const store = storeOf();
    const { opened, open } = gate();
    const work = vi.fn(() => opened);
    let refused = 0;
    const runs = Array.from({ length: 50 }, async () => {
      const result = await store.run(key, work, of(key));
      if (result === 'in_progress' && ++refused === 49) open();
      return result;
    });
    expect((await Promise.all(runs)).sort()).toEqual([
      'done',
      ...Array<string>(49).fill('in_progress'),
    ]);
    expect(work).toHaveBeenCalledOnce();
  });

  it('rethrows the error of the work as the same object, leaves no mark and lets the next run in at once', async () => {
    const store = storeOf();
    const error = new RangeError('of the handler');
    await expect(store.run(key, () => Promise.reject(error), of(key))).rejects.toBe(error);
    expect(await store.isDone(key)).toBe(false);
    expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('done');
  });

  it('issues growing fencing tokens, even if Redis has forgotten everything in between', async () => {
    const store = storeOf();
    const tokens: number[] = [];
    const fail = ({ fencingToken }: RedisScope): Promise<void> => {
      tokens.push(fencingToken);
      return Promise.reject(new Error('once more'));
    };
    await store.run(key, fail, of(key)).catch(() => undefined);
    await store.run(key, fail, of(key)).catch(() => undefined);
    await direct.flushall();
    await store.run(key, fail, of(key)).catch(() => undefined);
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    expect(new Set(tokens).size).toBe(3);
    expect(tokens.every(Number.isSafeInteger)).toBe(true);
  });

  it('renews the lease for as long as the handler works', async () => {
    const store = storeOf({ leaseMs: LEASE });
    const { opened, open } = gate();
    const running = store.run(key, () => opened, of(key));
    await renewals(`paylink:{${key}}:turn`, 2);
    expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('in_progress');
    open();
    expect(await running).toBe('done');
  });

  it.each([86_400_000, -86_400_000])(
    'holds a lease even if the clock of the process jumps by %d ms',
    async (jump) => {
      const store = storeOf({ leaseMs: LEASE });
      const { opened, open } = gate();
      vi.useFakeTimers({ toFake: ['Date'] });
      try {
        const work = vi.fn(() => opened);
        const running = store.run(key, work, of(key));
        await vi.waitUntil(() => work.mock.calls.length === 1, 10_000);
        vi.setSystemTime(Date.now() + jump);
        await renewals(`paylink:{${key}}:turn`, 1);
        expect(await store.run(key, () => Promise.reject(new Error('ran')), of(key))).toBe(
          'in_progress',
        );
        open();
        expect(await running).toBe('done');
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it('frees the key of a killed process after its lease has ended, and not before', async () => {
    const { holder } = await hold(server.port, key, 1_500);
    const store = storeOf();
    const work = vi.fn(() => Promise.resolve());
    expect(await store.run(key, work, of(key))).toBe('in_progress');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await vi.waitFor(async () => expect(await store.run(key, work, of(key))).toBe('done'), 10_000);
    expect(work).toHaveBeenCalledOnce();
  }, 20_000);

  it('lets one of two processes work', async () => {
    const { holder } = await hold(server.port, key, 60_000);
    const store = storeOf();
    expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('in_progress');
    const answered = once(holder, 'message');
    holder.send('go on');
    expect((await answered)[0]).toEqual({ result: 'done' });
    expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('duplicate');
  }, 20_000);

  describe('turns', () => {
    const turn = (): string => `turn of ${key}`;
    const done = () => Promise.resolve();

    it('    runs two events of one order one after the other, in two processes, and does not mix them up', async () => {
      const { holder } = await hold(server.port, `${key}-paid`, 60_000, turn());
      const store = storeOf();
      const refunded = vi.fn(done);
      expect(await store.run(`${key}-refunded`, refunded, { signal: never, turn: turn() })).toBe(
        'in_progress',
      );
      expect(refunded).not.toHaveBeenCalled();
      const answered = once(holder, 'message');
      holder.send('go on');
      expect((await answered)[0]).toEqual({ result: 'done' });
      expect(await store.run(`${key}-refunded`, refunded, { signal: never, turn: turn() })).toBe(
        'done',
      );
      expect(await direct.exists(`paylink:{${turn()}}:turn`)).toBe(0);
    }, 20_000);

    it('    reports a duplicate of a done event even while another event of the order has the turn', async () => {
      const store = storeOf();
      await store.run(`${key}-paid`, done, { signal: never, turn: turn() });
      const { opened, open } = gate();
      const refunding = store.run(`${key}-refunded`, () => opened, { signal: never, turn: turn() });
      await vi.waitUntil(
        async () => (await direct.exists(`paylink:{${turn()}}:turn`)) === 1,
        10_000,
      );
      const replayed = Array.from({ length: 20 }, () =>
        store.run(`${key}-paid`, done, { signal: never, turn: turn() }),
      );
      expect(await Promise.all(replayed)).toEqual(Array(20).fill('duplicate'));
      open();
      expect(await refunding).toBe('done');
    });

    it('    never overlaps in 100 pairs, and has 200 effects', async () => {
      await direct.flushall();
      const children = ['paid', 'refunded'].map((kind) =>
        fork(
          fileURLToPath(new URL('./turns.ts', import.meta.url)),
          [`${server.port}`, kind, '100'],
          {
            execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
          },
        ),
      );
      holders.push(...children);
      await Promise.all(children.map((child) => once(child, 'message')));
      const ended = children.map((child) => once(child, 'message'));
      for (const child of children) child.send('begin');
      await Promise.all(ended);
      const effects = await direct.mget(
        Array.from({ length: 100 }, (_, order) => `effects-${order}`),
      );
      expect(effects).toEqual(Array(100).fill('2'));
      expect(await direct.get('overlaps')).toBeNull();
      // Otherwise the pairs never met.
      expect(Number(await direct.get('refusals'))).toBeGreaterThan(0);
    }, 30_000);

    it('    passes the turn to another event after a done event, and after a failed one', async () => {
      const store = storeOf();
      const options = { signal: never, turn: turn() };
      expect(await store.run(key, done, options)).toBe('done');
      expect(await store.run(key, done, options)).toBe('duplicate');
      const failing = store.run(`${key}-failed`, () => Promise.reject(new Error('fails')), options);
      await failing.catch(() => undefined);
      expect(await store.run(`${key}-next`, done, options)).toBe('done');
    });

    it('    frees the turn of a killed process after its lease has ended', async () => {
      const { holder } = await hold(server.port, `${key}-paid`, 1_000, turn());
      const store = storeOf();
      const refunded = (): Promise<string> =>
        store.run(`${key}-refunded`, done, { signal: never, turn: turn() });
      expect(await refunded()).toBe('in_progress');
      holder.kill('SIGKILL');
      await vi.waitFor(async () => expect(await refunded()).toBe('done'), 10_000);
    }, 20_000);

    it('    renews the turn while the handler works, and tells the handler if the turn is lost', async () => {
      const store = storeOf({ leaseMs: LEASE });
      const lost = vi.fn();
      const working = vi.fn(
        ({ leaseLost }: RedisScope) =>
          new Promise<void>(() => leaseLost.addEventListener('abort', lost)),
      );
      const running = store.run(key, working, { signal: never, turn: turn() });
      const refused = expect(running).rejects.toThrow(/another process took it/);
      await vi.waitUntil(() => working.mock.calls.length > 0, 10_000);
      await renewals(`paylink:{${turn()}}:turn`, 1);
      expect([await direct.exists(`paylink:{${turn()}}:turn`), lost.mock.calls.length]).toEqual([
        1, 0,
      ]);
      await direct.set(`paylink:{${turn()}}:turn`, 'of another run');
      await refused;
      expect(lost).toHaveBeenCalledOnce();
      expect(await direct.get(`paylink:{${turn()}}:turn`)).toBe('of another run');
    });

    it('    issues growing tokens from one event of an order to the next, even if the first is retried', async () => {
      const store = storeOf();
      const tokens: number[] = [];
      const fail = async ({ fencingToken }: RedisScope): Promise<void> => {
        tokens.push(fencingToken);
        throw new Error('once more');
      };
      for (const kind of ['paid', 'refunded', 'paid']) {
        await store
          .run(`${key}-${kind}`, fail, { signal: never, turn: turn() })
          .catch(() => undefined);
      }
      expect(tokens[1]).toBeGreaterThan(tokens[0]!);
      expect(tokens[2]).toBeGreaterThan(tokens[1]!);
    });
  });

  it('repeats the effect if a process stalled past the end of its lease, with a larger token, and leaves the mark to it', async () => {
    const { holder, fencingToken } = await hold(server.port, key, 1_000);
    holder.kill('SIGSTOP');
    await vi.waitFor(
      async () => expect(await direct.exists(`paylink:{${key}}:turn`)).toBe(0),
      10_000,
    );
    const store = storeOf();
    const { opened, open } = gate();
    const work = vi.fn((_: RedisScope) => opened);
    const running = store.run(key, work, of(key));
    await vi.waitUntil(() => work.mock.calls.length > 0, 10_000);
    expect(work.mock.calls[0]![0].fencingToken).toBeGreaterThan(fencingToken);

    // The first one wakes up in the middle of the second and is done first: it must not mark
    // anything.
    const answered = once(holder, 'message');
    // Sent while it stands still: once it is awake it may have learnt that its lease is lost, and
    // have ended, before this process goes on.
    holder.send('go on');
    holder.kill('SIGCONT');
    expect((await answered)[0]).toEqual({
      result: expect.stringContaining('the lease expired') as string,
    });
    expect(await store.isDone(key)).toBe(false);
    open();
    expect(await running).toBe('done');
  }, 30_000);

  it('takes its own lease again if no other run has held it since', async () => {
    const store = storeOf({ leaseMs: 60_000 });
    const { opened, open } = gate();
    const work = vi.fn(() => opened);
    const running = store.run(key, work, of(key));
    await vi.waitUntil(() => work.mock.calls.length > 0, 10_000);
    // As the end of its time would.
    await direct.del(`paylink:{${key}}:turn`);
    open();
    expect(await running).toBe('done');
    expect(await store.isDone(key)).toBe(true);
  });

  it('gives up, leaves no mark and aborts leaseLost if the lease is lost during the work', async () => {
    const store = storeOf({ leaseMs: LEASE });
    const lost = vi.fn();
    const working = vi.fn(
      ({ leaseLost }: RedisScope) =>
        new Promise<void>(() => leaseLost.addEventListener('abort', lost, { once: true })),
    );
    const running = store.run(key, working, of(key));
    const refused = expect(running).rejects.toThrow(/another process took it, or Redis forgot it/);
    await vi.waitUntil(() => working.mock.calls.length > 0, 10_000);
    await direct.flushall();
    await refused;
    expect(lost).toHaveBeenCalledOnce();
    expect(await store.isDone(key)).toBe(false);
  });

  it('gives up if the lease expired before Redis renewed it', async () => {
    const own = await startRedis();
    const { client, close } = await connect(library, own.port);
    try {
      const store = redisStore(client, { leaseMs: 1_200, commandTimeout: 1_000 });
      const started = vi.fn(() => new Promise<void>(() => undefined));
      const running = store.run(key, started, of(key));
      const refused = expect(running).rejects.toThrow('the lease expired before Redis renewed it');
      await vi.waitUntil(() => started.mock.calls.length > 0, 10_000);
      own.freeze();
      await refused;
    } finally {
      own.thaw();
      close();
      await own.close();
    }
  }, 20_000);

  it('leaves no mark if the handler ends after another run took the lease', async () => {
    // A renewal that never comes in time, and a lease that another run got.
    const store = storeOf({ leaseMs: 60_000 });
    const { opened, open } = gate();
    const work = vi.fn(() => opened);
    const running = store.run(key, work, of(key));
    const refused = expect(running).rejects.toThrow(/the store left no mark/);
    await vi.waitUntil(() => work.mock.calls.length > 0, 10_000);
    await direct.del(`paylink:{${key}}:turn`);
    const other = store.run(
      key,
      () => new Promise(() => undefined),
      of(key, AbortSignal.timeout(60_000)),
    );
    other.catch(() => undefined);
    await vi.waitUntil(async () => (await direct.exists(`paylink:{${key}}:turn`)) === 1, 10_000);
    open();
    await refused;
    expect(await store.isDone(key)).toBe(false);
  });

  it('leaves no mark for a handler that ends after the abort, and lets the next run in after its end', async () => {
    const store = storeOf();
    const controller = new AbortController();
    const { opened, open } = gate();
    const work = vi.fn(() => opened);
    const running = store.run(key, work, of(key, controller.signal));
    await vi.waitUntil(() => work.mock.calls.length > 0, 10_000);
    const reason = new Error('its time is over');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    // It may still be at work, so no other run is let in beside it.
    expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('in_progress');
    open();
    await vi.waitFor(
      async () => expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('done'),
      10_000,
    );
  });

  it('lets the lease of a handler that never ends expire', async () => {
    const store = storeOf({ leaseMs: 200 });
    const controller = new AbortController();
    const work = vi.fn(() => new Promise<void>(() => undefined));
    const running = store.run(key, work, of(key, controller.signal));
    await vi.waitUntil(() => work.mock.calls.length > 0, 10_000);
    controller.abort(new Error('its time is over'));
    await expect(running).rejects.toThrow('its time is over');
    await vi.waitFor(
      async () => expect(await store.run(key, () => Promise.resolve(), of(key))).toBe('done'),
      10_000,
    );
  }, 20_000);

  it('does not begin if it was already aborted', async () => {
    const work = vi.fn(() => Promise.resolve());
    await expect(
      storeOf().run(key, work, of(key, AbortSignal.abort(new Error('too late')))),
    ).rejects.toThrow('too late');
    expect(work).not.toHaveBeenCalled();
  });

  it('rethrows the error of the work only after it returned the lease, so that a retry is not refused', async () => {
    const { opened, open } = gate();
    let isReleasing = (): void => undefined;
    const releasing = new Promise<void>((resolve) => (isReleasing = resolve));
    const client = Object.create(connected.client) as IoredisClient;
    client.eval = async (script, ...rest) => {
      if (script === RELEASE) {
        isReleasing();
        await opened;
      }
      return (connected.client as IoredisClient).eval(script, ...rest);
    };
    const order: string[] = [];
    const running = redisStore(client)
      .run(key, () => Promise.reject(new Error('of the credit')), of(key))
      .catch(() => order.push('thrown'));
    await releasing;
    order.push('released');
    open();
    await running;
    expect(order).toEqual(['released', 'thrown']);
    expect(await direct.exists(`paylink:{${key}}:turn`)).toBe(0);
  });

  it('puts its prefix in front of every key', async () => {
    await storeOf({ prefix: 'shop:{1}:' })
      .run(key, () => Promise.reject(new Error('so that the fence stays')), of(key))
      .catch(() => undefined);
    expect(await direct.keys('shop:*')).toEqual([`shop:{1}:{${key}}:fence`]);
  });

  describe('the store on a Redis of its own', () => {
    let own: RedisServer;
    let other: Connected;
    const begin = async (settings?: readonly string[]): Promise<void> => {
      own = await startRedis(settings);
      other = await connect(library, own.port);
    };
    afterEach(async () => {
      other.close();
      await own.close();
    });

    it('forgets if Redis restarts without its append-only file, and repeats the effect', async () => {
      await begin();
      const store = redisStore(other.client);
      const work = vi.fn(() => Promise.resolve());
      await store.run(key, work, of(key));
      await own.kill();
      await own.start();
      await vi.waitFor(async () => expect(await store.isDone(key)).toBe(false), 10_000);
      expect(await store.run(key, work, of(key))).toBe('done');
      expect(work).toHaveBeenCalledTimes(2);
    }, 30_000);

    it('remembers over a kill -9 of a Redis that writes its append-only file before each reply', async () => {
      await begin(DURABLE);
      const store = redisStore(other.client);
      await store.run(key, () => Promise.resolve(), of(key));
      await own.kill();
      await own.start();
      await vi.waitFor(async () => expect(await store.isDone(key)).toBe(true), 10_000);
    }, 30_000);

    it('forgets on a Redis that evicts, and not on one that evicts only keys with an expiry', async () => {
      await begin(['--maxmemory', '3mb', '--maxmemory-policy', 'volatile-lru']);
      const store = redisStore(other.client);
      await store.run(key, () => Promise.resolve(), of(key));
      const filler = new Redis({ port: own.port });
      try {
        const fill = async (): Promise<void> => {
          for (let index = 0; index < 400; index++)
            await filler.set(`cache-${index}`, 'x'.repeat(10_000), 'EX', 600);
        };
        await fill();
        expect(await store.isDone(key)).toBe(true);
        await filler.config('SET', 'maxmemory-policy', 'allkeys-lru');
        await vi.waitFor(
          async () => {
            await fill();
            const evicted = await filler.exists(`paylink:{${key}}`);
            expect(evicted).toBe(0);
          },
          { timeout: 20_000, interval: 10 },
        );
        expect(await store.isDone(key)).toBe(false);
      } finally {
        filler.disconnect();
      }
    }, 30_000);

    it('does not wait forever for a hanging Redis, and leaves no lease behind', async () => {
      await begin();
      const store = redisStore(other.client, { commandTimeout: 150 });
      const work = vi.fn(() => Promise.resolve());
      own.freeze();
      const late = { message: 'Redis did not answer in 150 ms' };
      await expect(store.isDone(key)).rejects.toMatchObject(late);
      await expect(store.run(key, work, of(key))).rejects.toMatchObject(late);
      own.thaw();
      // What Redis granted after the wait was given back.
      const patient = redisStore(other.client, { commandTimeout: 10_000 });
      await vi.waitFor(
        async () => expect(await patient.run(key, work, of(key))).toBe('done'),
        10_000,
      );
      expect(work).toHaveBeenCalledOnce();
    }, 20_000);

    it('heeds the signal while Redis is down, and continues when Redis is back', async () => {
      await begin();
      const store = redisStore(other.client, { commandTimeout: 60_000 });
      const work = vi.fn(() => Promise.resolve());
      await own.kill();
      const controller = new AbortController();
      const running = store.run(key, work, of(key, controller.signal));
      controller.abort(new Error('its time is over'));
      await expect(running).rejects.toThrow(/its time is over|closed|ECONN/);
      await own.start();
      await vi.waitFor(
        async () => expect(await store.run(key, work, of(key))).toBe('done'),
        10_000,
      );
      expect(work).toHaveBeenCalledOnce();
    }, 20_000);

    it('replies 503 while Redis is down, before the handler and after it', async () => {
      await begin();
      const store = redisStore(other.client, { commandTimeout: 1_000 });
      const credit = vi.fn(() => {
        own.freeze();
        return 1;
      });
      const payments = createPayments({
        store,
        credit,
        client: {
          getPayment: (reference: string) =>
            Promise.resolve({ reference, status: 'success' as const }),
        },
      });
      const rawBody = Buffer.from('{"reference":"order-1"}');
      const event = {
        type: 'payment.succeeded' as const,
        reference: 'order-1',
        payload: { reference: 'order-1' },
        rawBody,
        secretIndex: 0,
      };
      const unavailable = { code: 'store_unavailable', status: 503 };
      for (let time = 0; time < 2; time += 1) {
        await expect(payments.receive(event)).rejects.toMatchObject(unavailable);
      }
      expect(credit).toHaveBeenCalledOnce();
      own.thaw();
      // Redis works again: the credit, which is idempotent itself, is done once more and marked.
      credit.mockReturnValue(1);
      await vi.waitFor(async () => {
        expect((await payments.receive(event)).outcome).toMatch(/handled|duplicate/);
      }, 10_000);
      expect((await payments.receive(event)).outcome).toBe('duplicate');
    }, 20_000);
  });
});

describe('redisStore', () => {
  const client = { get: vi.fn(), set: vi.fn(), eval: vi.fn(), evalsha: vi.fn() };

  it.each<[string, () => unknown]>([
    ['client', () => redisStore(undefined as never)],
    ['client', () => redisStore({ host: 'localhost', port: 6379 } as never)],
    ['prefix', () => redisStore(client, { prefix: 7 as never })],
    ['prefix', () => redisStore(client, { prefix: '{}' })],
    ['leaseMS', () => redisStore(client, { leaseMS: 60_000 } as never)],
    ['leaseMs', () => redisStore(client, { leaseMs: 0 })],
    ['leaseMs', () => redisStore(client, { leaseMs: Number.NaN })],
    ['commandTimeout', () => redisStore(client, { commandTimeout: 2 ** 31 })],
  ])('rejects an invalid %s by name', (option, make) => {
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ option }) as Error);
  });

  it('never shows the client in an error', () => {
    const secretive = Object.assign({ password: 'hunter2-of-redis' }, client);
    expect(inspect(redisStore(secretive), { showHidden: true, depth: 9 })).not.toContain('hunter2');
  });
});
