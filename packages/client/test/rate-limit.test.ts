import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
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
  type ReconcileReport,
} from '../src/index.js';
import { startLimitedServer, type LimitedServer } from './limited-server.js';

const API_KEY = 'sk_live_limits.the-secret-part-of-it';
const CONCURRENCY = 4;

const orders = (count: number): string[] => Array.from({ length: count }, (_, index) => `order-${index}`);

let server: LimitedServer | undefined;
afterEach(() => {
  server?.close();
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
  it('is asked for 500 references as fast as it allows, and not while it pauses (N10)', async () => {
    server = await startLimitedServer(50, 1_000, () => 'success');
    const started = performance.now();
    const report = await reconcile({
      client: createClient({ baseUrl: server.baseUrl, apiKey: API_KEY }),
      references: orders(500),
      idempotency: memoryStore(),
      onSuccess: () => undefined,
      concurrency: CONCURRENCY,
    });
    expect([report.credited.length, report.errors, report.notAsked, report.cursor]).toEqual([500, [], [], undefined]);
    expect(server.answered).toHaveLength(500);
    // In each window only those that were under way when the first was refused.
    expect(Math.max(...server.refused)).toBeLessThanOrEqual(CONCURRENCY);
    expect(performance.now() - started).toBeGreaterThan(9_000);
  }, 60_000);

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

  it('is asked for the paid orders behind 450 that stay unpaid, by cron jobs that store the cursor (N10)', async () => {
    const all = orders(500);
    const isPaid = (reference: string): boolean => all.indexOf(reference) >= 450;
    const service = await startLimitedServer(50, 25_000, (reference) => (isPaid(reference) ? 'success' : 'pending'));
    server = service;
    const credits: string[] = [];
    let cursor: string | undefined = '0:order-0';
    let runs = 0;
    for (; credits.length < 50 && runs < 12; runs++) {
      service.nextWindow();
      const job = fork(fileURLToPath(new URL('./cron.ts', import.meta.url)), {
        execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
      });
      await once(job, 'message');
      const unpaid = all.filter((reference) => !credits.includes(reference));
      job.send({ baseUrl: service.baseUrl, unpaid, cursor, deadline: 10_000 });
      const [report] = (await once(job, 'message')) as [ReconcileReport];
      expect(report.total).toBe(unpaid.length);
      expect(report.notAsked).toHaveLength(unpaid.length - 50);
      credits.push(...report.credited);
      cursor = report.cursor;
    }
    expect([credits.length, new Set(credits).size, runs]).toEqual([50, 50, 10]);
    expect(new Set(service.answered).size).toBe(500);
    expect(Math.max(...service.refused)).toBeLessThanOrEqual(CONCURRENCY);
  }, 120_000);
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
    const running = reconcile({
      ...runOf(async (reference) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        return payment(reference);
      }, orders(9)),
      cursor: '0:order-0',
      concurrency: 2,
      deadline: 1_000,
    });
    await vi.advanceTimersByTimeAsync(5_000);
    const report = await running;
    expect(report.credited).toHaveLength(6);
    expect([report.notAsked, report.cursor]).toEqual([['order-6', 'order-7', 'order-8'], '6:order-6']);
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

  it('of an iterable is its own', async () => {
    expect(await askedOf(streamed(['a', 'b', 'c', 'd']))).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['where it was', '2:c', ['c', 'd', 'a', 'b']],
    ['where it has moved to', '3:b', ['b', 'c', 'd', 'a']],
    ['at its place, when the order of the cursor has been paid', '1:gone', ['b', 'c', 'd', 'a']],
    ['at the beginning, when the list has become shorter', '9:gone', ['a', 'b', 'c', 'd']],
    ['at a reference with a colon and a line feed', '0:x:\ny', ['a', 'b', 'c', 'd']],
  ])('starts at the cursor %s', async (_, cursor, expected) => {
    expect(await askedOf(['a', 'b', 'c', 'd'], cursor)).toEqual(expected);
  });

  it.each([
    ['at its reference', '9:c', ['c', 'd', 'a', 'b']],
    ['at its place, when the order has been paid', '2:gone', ['c', 'd', 'a', 'b']],
    ['at the beginning, when it was never found', '9:gone', ['a', 'b', 'c', 'd']],
  ])('of an iterable starts at the cursor %s, and asks last what was before it', async (_, cursor, expected) => {
    expect(await askedOf(streamed(['a', 'b', 'c', 'd']), cursor)).toEqual(expected);
  });

  it.each(['', 'order-42', '-1:a', 'x:a', 7])('refuses %o as a cursor', async (cursor) => {
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
    expect(progress.at(-1)).toEqual({ ended: 10_000, total: 10_000, credited: 10_000, errors: 0, cursor: undefined });
    for (const [index, { cursor, ended }] of progress.slice(0, -1).entries()) {
      const at = Number(cursor!.split(':')[0]);
      expect(at).toBeLessThanOrEqual(readBefore[index]!);
      expect(at).toBeGreaterThan(ended - 5);
    }
  }, 60_000);

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
