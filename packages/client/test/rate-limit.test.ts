import { memoryStore } from '@paylink/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createClient,
  isPaylinkError,
  PaylinkError,
  reconcile,
  type Payment,
  type PaymentReader,
  type ReconcileOptions,
  type ReconcileProgress,
} from '../src/index.js';

const API_KEY = 'sk_live_limits.the-secret-part-of-it';
const CONCURRENCY = 4;

const orders = (count: number): string[] => Array.from({ length: count }, (_, index) => `order-${index}`);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const payment = (reference: string): Payment => ({ reference, type: 'payment', amount: 1, currency: 'XOF', status: 'success' });
const refusal = (retryAfter?: number): PaylinkError => new PaylinkError('rate_limited', 'refused', { status: 429, retryAfter });

/** Options of a run that asks this reader, and credits nothing. */
function runOf(getPayment: PaymentReader['getPayment'], references: ReconcileOptions<object>['references']) {
  return { client: { getPayment }, references, idempotency: memoryStore(), onSuccess: () => undefined };
}

describe('a service that limits reads', () => {
  it('is asked for 500 references at 50 in 25 seconds within the time of ten windows (N10)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    let windowEnd = 0;
    let left = 0;
    const refusedIn: number[] = [];
    const service = async (url: string): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const now = performance.now();
      if (now >= windowEnd) {
        windowEnd = now + 25_000;
        left = 50;
        refusedIn.push(0);
      }
      if (left === 0) {
        refusedIn[refusedIn.length - 1]!++;
        const retryAfter = `${Math.ceil((windowEnd - now) / 1_000)}`;
        return new Response(null, { status: 429, headers: { 'Retry-After': retryAfter } });
      }
      left--;
      return Response.json(payment(decodeURIComponent(url.split('/').at(-1)!)));
    };
    const started = performance.now();
    const running = reconcile({
      client: createClient({ baseUrl: 'https://service.example/api', apiKey: API_KEY, fetch: service }),
      references: orders(500),
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      concurrency: CONCURRENCY,
    }).then((report) => ({ report, took: performance.now() - started }));
    await vi.advanceTimersByTimeAsync(300_000);
    const { report, took } = await running;
    expect([report.credited.length, report.errors, report.notAsked]).toEqual([500, [], []]);
    expect(Math.max(...refusedIn)).toBeLessThanOrEqual(CONCURRENCY);
    expect(took).toBeGreaterThanOrEqual(9 * 25_000);
    expect(took).toBeLessThan(10 * 25_000);
  }, 60_000);
});

describe('a pause', () => {
  it('holds all references, and the refused one is asked again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const asked: [number, string][] = [];
    let isFirst = true;
    const started = performance.now();
    const pauses: (number | undefined)[] = [];
    const running = reconcile({
      ...runOf(async (reference) => {
        asked.push([Math.round(performance.now() - started), reference]);
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (isFirst) {
          isFirst = false;
          throw refusal(7_000);
        }
        return payment(reference);
      }, orders(8)),
      cursor: '0:order-0',
      concurrency: 2,
      onProgress: (progress) => pauses.push(progress.pause),
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await running).credited).toHaveLength(8);
    const times = asked.map(([time]) => time);
    expect(times.filter((time) => time < 7_000)).toEqual([0, 0]);
    expect(asked.filter(([, reference]) => reference === 'order-0')).toHaveLength(2);
    expect(pauses).toContain(7_000);
  });

  it('grows from one second on where the service says 429 and not for how long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const asked: number[] = [];
    const started = performance.now();
    const running = reconcile({
      ...runOf(() => {
        asked.push(Math.round((performance.now() - started) / 1_000));
        return Promise.reject(refusal());
      }, ['order-0']),
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await running).errors).toMatchObject([{ reference: 'order-0', error: { code: 'rate_limited' } }]);
    expect(asked).toEqual([0, 1, 3, 7, 15]);
  });

  it('starts again at one second after an answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const refusals = [true, true, false, true, false];
    const pauses: (number | undefined)[] = [];
    const running = reconcile({
      ...runOf((reference) => (refusals.shift() ? Promise.reject(refusal()) : Promise.resolve(payment(reference))), orders(2)),
      concurrency: 1,
      onProgress: ({ pause }) => pauses.push(pause),
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await running).credited).toHaveLength(2);
    expect(pauses.filter((pause) => pause !== undefined)).toEqual([1_000, 2_000, 1_000]);
  });

  it('is not shortened by another refusal that asks for less, and counts once for both', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const started = performance.now();
    const asked: number[] = [];
    const pauses: (number | undefined)[] = [];
    const waits = [7_000, 1_000];
    const running = reconcile({
      ...runOf((reference) => {
        asked.push(performance.now() - started);
        const wait = waits.shift();
        return wait === undefined ? Promise.resolve(payment(reference)) : Promise.reject(refusal(wait));
      }, orders(2)),
      concurrency: 2,
      onProgress: ({ pause }) => pauses.push(pause),
    });
    await vi.advanceTimersByTimeAsync(8_000);
    expect((await running).credited).toHaveLength(2);
    expect(asked.slice(0, 2)).toEqual([0, 0]);
    expect(asked.slice(2).every((time) => time >= 7_000)).toBe(true);
    expect(pauses.filter((pause) => pause !== undefined)).toEqual([7_000]);
  });

  it('is followed by up to a quarter of a second, so that processes that were refused together do not ask together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0.8);
    const started = performance.now();
    const asked: number[] = [];
    const running = reconcile(
      runOf(
        (reference) =>
          asked.push(performance.now() - started) === 1 ? Promise.reject(refusal(3_000)) : Promise.resolve(payment(reference)),
        ['order-0'],
      ),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await running;
    expect(asked).toEqual([0, 3_200]);
  });

  it('that lasts as long as the run ends it at once too', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const results: unknown[] = [];
    const run = runOf(() => Promise.reject(refusal(5_000)), ['order-0']);
    const running = reconcile({ ...run, deadline: 5_000, onResult: (result) => results.push(result) });
    await vi.advanceTimersByTimeAsync(0);
    expect((await running).notAsked).toEqual(['order-0']);
    expect(results).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is asked for by a Retry-After with another status too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const onProgress = vi.fn<(progress: ReconcileProgress) => void>();
    let isFirst = true;
    const running = reconcile({
      ...runOf(
        (reference) => {
          if (!isFirst) return Promise.resolve(payment(reference));
          isFirst = false;
          return Promise.reject(new PaylinkError('service_error', 'down', { status: 503, retryAfter: 3_000 }));
        },
        ['order-0'],
      ),
      onProgress,
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await running).credited).toEqual(['order-0']);
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ pause: 3_000 }));
  });

  it('that outlasts the run ends it at once, with what was not asked and where to go on', async () => {
    const report = await reconcile({
      ...runOf(
        (reference) => (reference === 'order-2' ? Promise.reject(refusal(3_600_000)) : Promise.resolve(payment(reference))),
        orders(5),
      ),
      cursor: '0:order-0',
      concurrency: 1,
    });
    expect(report.credited).toEqual(['order-0', 'order-1']);
    expect(report.notAsked).toEqual(['order-2', 'order-3', 'order-4']);
    expect([report.total, report.errors, report.cursor]).toEqual([5, [], '2:order-2']);
  });

  it('that outlasts the run leaves the cursor at the first reference that was not asked, whichever was refused first', async () => {
    let refuseFirst = (): void => undefined;
    const reading = runOf((reference) => {
      if (reference === 'order-0') return new Promise((_, reject) => (refuseFirst = () => reject(refusal(3_600_000))));
      return Promise.reject(refusal(3_600_000));
    }, orders(2));
    const report = await reconcile({ ...reading, cursor: '0:order-0', concurrency: 2, onProgress: () => refuseFirst() });
    expect([report.notAsked, report.cursor]).toEqual([['order-1', 'order-0'], '0:order-0']);
  });

  it('ends with an abort', async () => {
    const controller = new AbortController();
    const running = reconcile({
      ...runOf(() => Promise.reject(refusal(60_000)), orders(5)),
      signal: controller.signal,
      onProgress: () => setImmediate(() => controller.abort()),
    });
    await expect(running).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('the time of a run', () => {
  it('ends with its deadline: what is under way ends, and nothing more is begun', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const isDone = vi.fn(() => Promise.resolve(false));
    const run = runOf(async (reference) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return payment(reference);
    }, orders(9));
    const running = reconcile({
      ...run,
      idempotency: { isDone, run: (key, work, options) => run.idempotency.run(key, work, options) },
      cursor: '0:order-0',
      concurrency: 2,
      deadline: 1_000,
    });
    await vi.advanceTimersByTimeAsync(5_000);
    const report = await running;
    expect(report.credited).toHaveLength(6);
    expect(isDone).toHaveBeenCalledTimes(6);
    expect([report.notAsked, report.cursor]).toEqual([['order-6', 'order-7', 'order-8'], '6:order-6']);
  });

  it('leaves a cursor also where it ends while the last reference of an iterable that was read is being asked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const read = async (reference: string): Promise<Payment> => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return payment(reference);
    };
    const references = new Set(orders(3));
    const running = reconcile({ ...runOf(read, references), concurrency: 1, deadline: 500 });
    await vi.advanceTimersByTimeAsync(1_000);
    const report = await running;
    expect([report.credited, report.notAsked, report.cursor]).toEqual([['order-0'], ['order-1'], '1:order-1']);
  });

  it('reads no more of an iterable than the cursor needs', async () => {
    let read = 0;
    let closed = false;
    function* references(): Generator<string> {
      try {
        for (const reference of orders(100)) {
          read++;
          yield reference;
        }
      } finally {
        closed = true;
      }
    }
    const refuse = (reference: string) =>
      reference === 'order-3' ? Promise.reject(refusal(3_600_000)) : Promise.resolve(payment(reference));
    const report = await reconcile({ ...runOf(refuse, references()), concurrency: 1 });
    expect([report.credited.length, report.notAsked, report.cursor]).toEqual([3, ['order-3'], '3:order-3']);
    expect([read, closed]).toEqual([4, true]);
  });
});

describe('the order of a run', () => {
  /** The references in the order in which they are asked. */
  async function askedOf(references: ReconcileOptions<object>['references'], cursor?: string): Promise<string[]> {
    const asked: string[] = [];
    const run = runOf((reference) => {
      asked.push(reference);
      return Promise.resolve(payment(reference));
    }, references);
    const report = await reconcile({ ...run, concurrency: 1, cursor });
    expect([report.total, report.cursor]).toEqual([asked.length, undefined]);
    return asked;
  }
  async function* streamed(references: string[]): AsyncGenerator<string> {
    yield* references;
  }

  it('of an array starts at random without a cursor, so that its end is reached too', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(await askedOf(['a', 'b', 'c', 'd'])).toEqual(['c', 'd', 'a', 'b']);
    expect(await askedOf([])).toEqual([]);
  });

  it('of an array starts at its place, also where its reference comes earlier too', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const results: string[] = [];
    await reconcile({
      ...runOf(async (reference) => payment(reference), ['a', 'b', 'a']),
      concurrency: 1,
      onResult: ({ reference, outcome }) => results.push(`${reference} ${outcome}`),
    });
    expect(results).toEqual(['a credited', 'a duplicate', 'b credited']);
  });

  it('of an iterable is its own', async () => {
    expect(await askedOf(streamed(['a', 'b', 'c', 'd']))).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['where it was', '2:c', ['c', 'd', 'a', 'b']],
    ['where it has moved to', '3:b', ['b', 'c', 'd', 'a']],
    ['where it has moved to, the beginning', '3:a', ['a', 'b', 'c', 'd']],
    ['at its place, when the order of the cursor has been paid', '1:gone', ['b', 'c', 'd', 'a']],
    ['at the beginning, when the list has become shorter', '9:gone', ['a', 'b', 'c', 'd']],
    ['at a reference with a colon and a line feed', '0:x:\ny', ['a', 'b', 'c', 'd']],
  ])('starts at the cursor %s', async (_, cursor, expected) => {
    expect(await askedOf(['a', 'b', 'c', 'd'], cursor)).toEqual(expected);
  });

  it.each([
    ['at its reference', '9:c', ['c', 'd', 'a', 'b']],
    ['at its place, when the order has been paid', '2:gone', ['c', 'd', 'a', 'b']],
    ['at the beginning, when it was never found', '19:gone', ['a', 'b', 'c', 'd']],
  ])('of an iterable starts at the cursor %s, and asks last what was before it', async (_, cursor, expected) => {
    expect(await askedOf(streamed(['a', 'b', 'c', 'd']), cursor)).toEqual(expected);
  });

  it('starts at a place of more than one digit', async () => {
    const references = orders(13);
    expect((await askedOf(references, '12:gone'))[0]).toBe('order-12');
    expect((await askedOf(streamed(references), '12:gone'))[0]).toBe('order-12');
    expect((await askedOf(references, '3:order-7'))[0]).toBe('order-7');
  });

  it('tells an iterator that no more is wanted, and one that has ended nothing', async () => {
    const closed = vi.fn(() => Promise.resolve({ done: true as const, value: undefined }));
    const iterable = (list: string[]) => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value = list.shift();
          return value === undefined ? { done: true as const, value } : { done: false as const, value };
        },
        return: closed,
      }),
    });
    await askedOf(iterable(['a', 'b']));
    expect(closed).not.toHaveBeenCalled();
    const refused = runOf(() => Promise.reject(refusal(3_600_000)), iterable(['a', 'b']));
    expect((await reconcile({ ...refused, concurrency: 1 })).cursor).toBe('0:a');
    expect(closed).toHaveBeenCalledOnce();
  });

  it.each(['', 'order-42', '-1:a', 'x:a', 'x1:a', `${'1'.repeat(16)}:a`, 7, ['1:a']])('refuses %o as a cursor', async (cursor) => {
    const running = reconcile({ ...runOf(async (reference) => payment(reference), []), cursor: cursor as string });
    await expect(running).rejects.toMatchObject({ option: 'cursor' });
  });
});

describe('the progress', () => {
  it('of 10,000 references is reported once a second, with a cursor from which a killed run goes on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const progress: ReconcileProgress[] = [];
    const readBefore: number[] = [];
    let read = 0;
    const running = reconcile({
      ...runOf(async (reference) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        read++;
        return payment(reference);
      }, orders(10_000)),
      cursor: '0:order-0',
      onProgress: (step) => {
        progress.push(step);
        readBefore.push(read);
      },
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await running).credited).toHaveLength(10_000);
    // 4 at a time, each 20 ms: 50 s.
    expect(progress.length).toBeGreaterThan(45);
    expect(progress.length).toBeLessThan(55);
    expect(progress.every(({ total }) => total === 10_000)).toBe(true);
    expect(progress.at(-1)).toStrictEqual({ ended: 10_000, total: 10_000, credited: 10_000, errors: 0, cursor: undefined });
    for (const [index, { cursor, ended }] of progress.slice(0, -1).entries()) {
      const at = Number(cursor!.split(':')[0]);
      expect(at).toBeLessThanOrEqual(readBefore[index]!);
      expect(at).toBeGreaterThan(ended - 5);
    }
  }, 60_000);

  it('of references that take a second each is reported after each', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const ended: number[] = [];
    const running = reconcile({
      ...runOf(async (reference) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return payment(reference);
      }, orders(3)),
      concurrency: 1,
      onProgress: (progress) => ended.push(progress.ended),
    });
    await vi.advanceTimersByTimeAsync(3_000);
    await running;
    expect(ended).toEqual([1, 2, 3, 3]);
  });

  it('changes nothing when its hook throws', async () => {
    const report = await reconcile({
      ...runOf(async (reference) => payment(reference), ['a']),
      onProgress: () => {
        throw new Error('of the hook');
      },
    });
    expect(report.credited).toEqual(['a']);
  });
});

describe('getPayment', () => {
  it('with retryLimited: false leaves the wait to the caller, and retries other failures', async () => {
    const statuses = [500, 429, 200];
    const asked: number[] = [];
    const client = createClient({
      baseUrl: 'https://service.example/api',
      apiKey: API_KEY,
      fetch: async () => {
        const status = statuses[asked.length]!;
        asked.push(status);
        return new Response('{}', { status, headers: status === 429 ? { 'Retry-After': '1' } : {} });
      },
    });
    const error: unknown = await client.getPayment('order-1', { retryLimited: false }).catch((reason: unknown) => reason);
    expect(isPaylinkError(error) && [error.code, error.retryAfter]).toEqual(['rate_limited', 1_000]);
    expect(asked).toEqual([500, 429]);
  });
});
