/** The order, the pace and the progress of a run. */
import { createHash } from 'node:crypto';
import { createClient } from '@paylink/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createPayments,
  memoryStore,
  type ReconcileOptions,
  type ReconcileProgress,
} from '../src/index.js';
import type { References } from '../src/reconcile/references.js';
import { startLimitedServer } from './limited-server.js';
import { failure, quiet, service } from './shop.js';

const CONCURRENCY = 4;
const API_KEY = 'sk_live_limits.the-secret-part-of-it';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function useClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  // A thread computes digests, and the clock of the test does not wait for threads.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_name, data) => {
    const bytes = createHash('sha256')
      .update(data as Uint8Array)
      .digest();
    return new Uint8Array(bytes).buffer;
  });
}
const orders = (count: number): string[] => Array.from({ length: count }, (_, n) => `order-${n}`);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An error as the client of `@paylink/client` throws it. */
function refusal(retryAfter?: unknown, more: object = {}): Error {
  return Object.assign(new Error('refused'), {
    code: 'rate_limited',
    status: 429,
    retryAfter,
    ...more,
  });
}

/** A run that asks this service. */
function run(
  answer: Parameters<typeof service>[0],
  references: References,
  options: ReconcileOptions = {},
  store = memoryStore(),
) {
  const payments = createPayments({
    client: service(answer),
    store,
    credit: () => 1,
    logger: quiet,
  });
  return payments.reconcile(references, options);
}

describe('a service that limits reads', () => {
  it('is asked for 150 references as fast as it allows, and not during its pauses', async () => {
    const server = await startLimitedServer(50, 1_000, () => 'success');
    try {
      const client = createClient({ baseUrl: server.baseUrl, apiKey: API_KEY });
      const options = { client, store: memoryStore(), credit: () => 1, logger: quiet };
      const started = performance.now();
      const report = await createPayments(options).reconcile(orders(150));
      expect([report.credited.length, report.errors, report.notAsked]).toEqual([150, [], []]);
      expect(server.answered).toHaveLength(150);
      // In each window only those that were under way when the first was refused.
      expect(Math.max(...server.refused)).toBeLessThanOrEqual(CONCURRENCY);
      expect(performance.now() - started).toBeGreaterThan(2_000);
    } finally {
      server.close();
    }
  }, 60_000);

  it('reaches paid orders behind 450 unpaid ones in runs that store the cursor', async () => {
    const all = orders(500);
    const isPaid = (reference: string): boolean => all.indexOf(reference) >= 450;
    const statusOf = (reference: string) => (isPaid(reference) ? 'success' : 'pending');
    const server = await startLimitedServer(50, 25_000, statusOf);
    try {
      const credits: string[] = [];
      let cursor: string | undefined = '0:order-0';
      let runs = 0;
      for (; credits.length < 50 && runs < 12; runs++) {
        server.nextWindow();
        // New payments each time, as a cron job is a new process.
        const client = createClient({ baseUrl: server.baseUrl, apiKey: API_KEY });
        const { reconcile } = createPayments({ client, store: memoryStore(), credit: () => 1 });
        const unpaid = all.filter((reference) => !credits.includes(reference));
        const report = await reconcile(unpaid, { cursor, deadline: 10_000 });
        expect(report.notAsked).toHaveLength(unpaid.length - 50);
        credits.push(...report.credited);
        ({ cursor } = report);
      }
      expect([credits.length, new Set(credits).size]).toEqual([50, 50]);
      // Ten windows of 50. A run may ask again for an order that was answered before another one.
      expect(runs).toBeLessThanOrEqual(11);
      expect(Math.max(...server.refused)).toBeLessThanOrEqual(CONCURRENCY);
    } finally {
      server.close();
    }
  }, 60_000);
});

describe('a pause', () => {
  it('holds all references, and the run asks the refused one again', async () => {
    useClock();
    const asked: [number, string][] = [];
    const pauses: (number | undefined)[] = [];
    let isFirst = true;
    const started = performance.now();
    const answer = async (reference: string): Promise<object> => {
      asked.push([Math.round(performance.now() - started), reference]);
      await wait(10);
      if (!isFirst) return {};
      isFirst = false;
      return refusal(7_000);
    };
    const onProgress = ({ pause }: ReconcileProgress) => pauses.push(pause);
    const running = run(answer, orders(8), { cursor: '0:order-0', concurrency: 2, onProgress });
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await running).credited).toHaveLength(8);
    expect(asked.map(([time]) => time).filter((time) => time < 7_000)).toEqual([0, 0]);
    expect(asked.filter(([, reference]) => reference === 'order-0')).toHaveLength(2);
    expect(pauses).toContain(7_000);
  });

  it.each([undefined, null, NaN, '5', '', -1, Infinity, {}, true])(
    'grows from one second on after a 429 with the invalid retryAfter %o',
    async (retryAfter) => {
      useClock();
      vi.spyOn(Math, 'random').mockReturnValue(0);
      const asked: number[] = [];
      const started = performance.now();
      const answer = () => {
        asked.push(Math.round((performance.now() - started) / 1_000));
        return refusal(retryAfter);
      };
      const running = run(answer, ['order-0']);
      await vi.advanceTimersByTimeAsync(60_000);
      expect((await running).errors).toMatchObject([
        { reference: 'order-0', error: { cause: { code: 'rate_limited' } } },
      ]);
      expect(asked).toEqual([0, 1, 3, 7, 15]);
    },
  );

  it.each([NaN, '5', Infinity])(
    'does not keep a run going past its deadline: %o',
    async (retryAfter) => {
      useClock();
      const started = performance.now();
      const running = run(() => refusal(retryAfter), orders(10), { deadline: 5_000 });
      let took: number | undefined;
      void running.then(() => (took = performance.now() - started));
      await vi.advanceTimersByTimeAsync(6_000);
      expect(took).toBeLessThanOrEqual(5_000);
      expect((await running).notAsked).toHaveLength(10);
    },
  );

  it.each([NaN, '5', {}, null])(
    'does not start for another error with the retryAfter %o',
    async (retryAfter) => {
      const error = refusal(retryAfter, { code: 'service_error', status: 500 });
      const answer = vi.fn(() => error);
      expect((await run(answer, ['r'])).errors).toMatchObject([{ error: { cause: error } }]);
      expect(answer).toHaveBeenCalledOnce();
    },
  );

  it('starts again at one second after an answer', async () => {
    useClock();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const refusals = [true, true, false, true, false];
    const pauses: number[] = [];
    const running = run(() => (refusals.shift() ? refusal() : {}), orders(2), {
      concurrency: 1,
      onProgress: ({ pause }) => pause !== undefined && pauses.push(pause),
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await running).credited).toHaveLength(2);
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  it('lasts as long as the longer one of two refusals, and counts once', async () => {
    useClock();
    const started = performance.now();
    const asked: number[] = [];
    const pauses: number[] = [];
    const waits = [7_000, 1_000];
    const answer = () => {
      asked.push(performance.now() - started);
      const delay = waits.shift();
      return delay === undefined ? {} : refusal(delay);
    };
    const running = run(answer, orders(2), {
      concurrency: 2,
      onProgress: ({ pause }) => pause !== undefined && pauses.push(pause),
    });
    await vi.advanceTimersByTimeAsync(8_000);
    expect((await running).credited).toHaveLength(2);
    expect(asked.slice(0, 2)).toEqual([0, 0]);
    expect(asked.slice(2).every((time) => time >= 7_000)).toBe(true);
    expect(pauses).toEqual([7_000]);
  });

  it('lasts up to a quarter of a second longer, so that processes do not ask together', async () => {
    useClock();
    vi.spyOn(Math, 'random').mockReturnValue(0.8);
    const started = performance.now();
    const asked: number[] = [];
    const answer = () => (asked.push(performance.now() - started) === 1 ? refusal(3_000) : {});
    const running = run(answer, ['order-0']);
    await vi.advanceTimersByTimeAsync(5_000);
    await running;
    expect(asked).toEqual([0, 3_200]);
  });

  it('starts for a Retry-After with another status too', async () => {
    useClock();
    const onProgress = vi.fn();
    const answers = [refusal(3_000, { code: 'service_error', status: 503 }), {}];
    const running = run(() => answers.shift(), ['order-0'], { onProgress });
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await running).credited).toEqual(['order-0']);
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ pause: 3_000 }));
  });

  it('that outlasts the run ends it at once, with what was not asked and the cursor', async () => {
    const answer = (reference: string) => (reference === 'order-2' ? refusal(3_600_000) : {});
    const report = await run(answer, orders(5), { cursor: '0:order-0', concurrency: 1 });
    expect(report.credited).toEqual(['order-0', 'order-1']);
    expect(report.notAsked).toEqual(['order-2', 'order-3', 'order-4']);
    expect([report.total, report.errors, report.cursor]).toEqual([5, [], '2:order-2']);
  });

  it('that lasts as long as the run ends it at once too', async () => {
    useClock();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const running = run(() => refusal(5_000), ['order-0'], { deadline: 5_000 });
    await vi.advanceTimersByTimeAsync(0);
    expect((await running).notAsked).toEqual(['order-0']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves the cursor at the first reference not asked, even if a later one was refused first', async () => {
    let refuseFirst = (): void => undefined;
    const answer = (reference: string) =>
      reference === 'order-0'
        ? new Promise((resolve) => (refuseFirst = () => resolve(refusal(3_600_000))))
        : refusal(3_600_000);
    const options = { cursor: '0:order-0', concurrency: 2, onProgress: () => refuseFirst() };
    const report = await run(answer, orders(2), options);
    expect([report.notAsked, report.cursor]).toEqual([['order-1', 'order-0'], '0:order-0']);
  });

  it('ends with an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('shutdown');
    const running = run(() => refusal(60_000), orders(5), {
      signal: controller.signal,
      onProgress: () => setImmediate(() => controller.abort(reason)),
    });
    expect(await failure(running)).toBe(reason);
  });
});

describe('the time of a run', () => {
  it('ends at its deadline: nothing starts anymore, and running requests end', async () => {
    useClock();
    const memory = memoryStore();
    const isDone = vi.fn(() => Promise.resolve(false));
    const store = { ...memory, isDone };
    const options = { cursor: '0:order-0', concurrency: 2, deadline: 1_000 };
    const running = run(() => wait(400).then(() => ({})), orders(9), options, store);
    await vi.advanceTimersByTimeAsync(5_000);
    const report = await running;
    expect([report.credited.length, isDone.mock.calls.length]).toEqual([6, 6]);
    expect(report.notAsked).toEqual(['order-6', 'order-7', 'order-8']);
    expect(report.cursor).toBe('6:order-6');
  });

  it('leaves a cursor if it ends while the last reference of an iterable is being asked', async () => {
    useClock();
    const answer = () => wait(1_000).then(() => ({}));
    const running = run(answer, new Set(orders(3)), { concurrency: 1, deadline: 500 });
    await vi.advanceTimersByTimeAsync(1_000);
    const report = await running;
    expect(report).toMatchObject({ credited: ['order-0'], notAsked: ['order-1'] });
    expect(report.cursor).toBe('1:order-1');
  });

  it('reads no more of an iterable than the cursor needs, and closes it', async () => {
    let read = 0;
    let closed = false;
    function* streamed(): Generator<string> {
      try {
        for (const reference of orders(100)) {
          read++;
          yield reference;
        }
      } finally {
        closed = true;
      }
    }
    const answer = (reference: string) => (reference === 'order-3' ? refusal(3_600_000) : {});
    const report = await run(answer, streamed(), { concurrency: 1 });
    expect(report).toMatchObject({ notAsked: ['order-3'], cursor: '3:order-3' });
    expect([report.credited.length, read]).toEqual([3, 4]);
    await vi.waitUntil(() => closed);
  });
});

describe('the order of a run', () => {
  async function askedOf(references: References, cursor?: string): Promise<string[]> {
    const asked: string[] = [];
    const answer = (reference: string) => (asked.push(reference), {});
    const report = await run(answer, references, { concurrency: 1, cursor });
    expect([report.total, report.cursor]).toEqual([asked.length, undefined]);
    return asked;
  }
  async function* streamed(references: string[]): AsyncGenerator<string> {
    yield* references;
  }
  const four = ['a', 'b', 'c', 'd'];

  it('of an array starts at random without a cursor, so that its end is reached too', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(await askedOf(four)).toEqual(['c', 'd', 'a', 'b']);
  });

  it('of an iterable is its own', async () => {
    expect(await askedOf(streamed(four))).toEqual(four);
  });

  it.each([
    ['where it was', '2:c', ['c', 'd', 'a', 'b']],
    ['where its reference has moved to', '3:b', ['b', 'c', 'd', 'a']],
    ['at the beginning, if its reference has moved there', '3:a', four],
    ['at its place, if its order has been paid', '1:gone', ['b', 'c', 'd', 'a']],
    ['at the beginning, if the list has become shorter', '9:gone', four],
    ['at a reference with a colon and a line feed', '0:x:\ny', four],
  ])('starts at the cursor %s', async (_, cursor, expected) => {
    expect(await askedOf(four, cursor)).toEqual(expected);
  });

  it.each([
    ['at its reference', '9:c', ['c', 'd', 'a', 'b']],
    ['at its place, if its order has been paid', '2:gone', ['c', 'd', 'a', 'b']],
    ['at the beginning, if it was never found', '19:gone', four],
  ])(
    'of an iterable starts at the cursor %s, and asks last for the rest',
    async (_, cursor, expected) => {
      expect(await askedOf(streamed(four), cursor)).toEqual(expected);
    },
  );

  it('starts at a place of more than one digit', async () => {
    for (const list of [orders(13), streamed(orders(13))]) {
      expect((await askedOf(list, '12:gone'))[0]).toBe('order-12');
    }
  });
});

describe('the progress', () => {
  it('of 10,000 references is told once a second, with a cursor to go on from', async () => {
    useClock();
    const progress: ReconcileProgress[] = [];
    const readBefore: number[] = [];
    let read = 0;
    const answer = async (): Promise<object> => {
      await wait(20);
      read++;
      return {};
    };
    const onProgress = (step: ReconcileProgress): void => {
      progress.push(step);
      readBefore.push(read);
    };
    const running = run(answer, orders(10_000), { cursor: '0:order-0', onProgress });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await running).credited).toHaveLength(10_000);
    // 4 at a time, each 20 ms: 50 s.
    expect(progress.length).toBeGreaterThan(45);
    expect(progress.length).toBeLessThan(55);
    const all = 10_000;
    const last = { ended: all, total: all, credited: all, errors: 0, cursor: undefined };
    expect(progress.at(-1)).toStrictEqual(last);
    for (const [index, { cursor, ended }] of progress.slice(0, -1).entries()) {
      const at = Number(cursor!.split(':')[0]);
      expect(at).toBeLessThanOrEqual(readBefore[index]!);
      expect(at).toBeGreaterThan(ended - 5);
    }
  }, 60_000);

  it('changes nothing if its hook throws or rejects', async () => {
    const hooks = [
      () => {
        throw new Error('of the hook');
      },
      () => Promise.reject(new Error('of the hook')),
    ];
    for (const onProgress of hooks) {
      expect((await run({}, ['a'], { onProgress })).credited).toEqual(['a']);
    }
  });
});
