import { afterEach, describe, expect, it, vi } from 'vitest';
import { PaylinkError, readPayments, type Payment, type PaymentReader, type PaymentReading } from '../src/index.js';

const paymentOf = (reference: string): Payment => ({ reference, type: 'payment', amount: 1, currency: 'XOF', status: 'success' });

async function gather(readings: AsyncIterable<PaymentReading>): Promise<string[]> {
  const said: string[] = [];
  for await (const reading of readings) {
    said.push('payment' in reading ? reading.reference : `${reading.reference}: ${(reading.error as PaylinkError).code}`);
  }
  return said;
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('readPayments', () => {
  it('gives the readings in the order of the references, and has no more under way than it may', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const client: PaymentReader = {
      getPayment: (reference) =>
        new Promise((resolve) => {
          waiting.push(() => resolve(paymentOf(reference)));
          most = Math.max(most, waiting.length);
          // The last one that was asked is the first that is answered.
          if (waiting.length === 3) for (const answer of waiting.splice(0).reverse()) answer();
        }),
    };
    const references = Array.from({ length: 9 }, (_, number) => `order-${number}`);
    expect(await gather(readPayments({ client, references, concurrency: 3 }))).toEqual(references);
    expect(most).toBe(3);
  });

  it('lets a reference fail, and reads the others', async () => {
    const client: PaymentReader = {
      async getPayment(reference) {
        if (reference === 'b') throw new PaylinkError('not_found', 'there is none');
        return paymentOf(reference === 'c' ? 'another' : reference);
      },
    };
    expect(await gather(readPayments({ client, references: ['a', 'b', 'c', 'd'] }))).toEqual([
      'a',
      'b: not_found',
      'c: response_mismatch',
      'd',
    ]);
  });

  it('asks a refused reference again after one pause for all, and nothing meanwhile', async () => {
    let until = 0;
    let early = 0;
    let refusals = 0;
    const pauses: number[] = [];
    const client: PaymentReader = {
      async getPayment(reference) {
        if (performance.now() < until) early++;
        if (reference === 'b' && refusals++ < 2) {
          until = performance.now() + 100;
          throw new PaylinkError('rate_limited', 'slower', { retryAfter: 100 });
        }
        return paymentOf(reference);
      },
    };
    const onPause = (milliseconds: number): void => void pauses.push(milliseconds);
    const read = await gather(readPayments({ client, references: ['a', 'b', 'c'], concurrency: 1, onPause }));
    expect({ read, early, pauses }).toEqual({ read: ['a', 'b', 'c'], early: 0, pauses: [100, 100] });
  });

  it('waits longer after each refusal that does not say for how long, a minute at most, and gives the reference up after sixty', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let asked = 0;
    const pauses: number[] = [];
    const client: PaymentReader = {
      getPayment() {
        asked++;
        return Promise.reject(new PaylinkError('rate_limited', 'slower'));
      },
    };
    const reading = gather(readPayments({ client, references: ['a'], onPause: (milliseconds) => pauses.push(milliseconds) }));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await reading).toEqual(['a: rate_limited']);
    expect(asked).toBe(60);
    expect(pauses.slice(0, 9)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('goes on when its hook throws or rejects', async () => {
    for (const onPause of [
      () => {
        throw new Error('of the hook');
      },
      () => Promise.reject(new Error('of the hook')),
    ]) {
      let refused = false;
      const client: PaymentReader = {
        async getPayment(reference) {
          if (refused) return paymentOf(reference);
          refused = true;
          throw new PaylinkError('rate_limited', 'slower', { retryAfter: 0 });
        },
      };
      expect(await gather(readPayments({ client, references: ['a'], onPause }))).toEqual(['a']);
    }
  });

  it('hands on a signal, the tenant where there is one, and leaves the rate limit to itself', async () => {
    const seen: object[] = [];
    const client: PaymentReader = {
      async getPayment(reference, options) {
        seen.push(options);
        return paymentOf(reference);
      },
    };
    await gather(readPayments({ client, references: ['a'] }));
    await gather(readPayments({ client, references: ['a'], tenant: 'acme' }));
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(seen).toStrictEqual([
      { signal, retryLimited: false },
      { signal, tenant: 'acme', retryLimited: false },
    ]);
  });

  it('reports a reader that hangs as late, and one that gives nothing as no payment of the reference', async () => {
    const hanging: PaymentReader = { getPayment: () => new Promise(() => undefined) };
    expect(await gather(readPayments({ client: hanging, references: ['a'], timeout: 20 }))).toEqual(['a: timeout']);
    const empty = { getPayment: () => Promise.resolve(undefined) } as unknown as PaymentReader;
    expect(await gather(readPayments({ client: empty, references: ['a'] }))).toEqual(['a: response_mismatch']);
  });

  it('ends while its source hangs or has no end of its own, and throws what the source threw', async () => {
    const client: PaymentReader = { getPayment: async (reference) => paymentOf(reference) };
    const hanging = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    const stop = new AbortController();
    const ended = gather(readPayments({ client, references: hanging, signal: stop.signal }));
    stop.abort();
    await expect(ended).rejects.toMatchObject({ code: 'aborted' });
    const fault = new Error('the file is gone');
    const broken = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(fault), return: () => Promise.reject(new Error('twice')) }),
    };
    await expect(gather(readPayments({ client, references: broken }))).rejects.toBe(fault);
  });

  it('takes no place before it is asked for one, and no reference after an abort', async () => {
    const stop = new AbortController();
    const asked: string[] = [];
    const client: PaymentReader = {
      async getPayment(reference) {
        asked.push(reference);
        return paymentOf(reference);
      },
    };
    const readings = readPayments({ client, references: ['a', 'b', 'c'], concurrency: 1, signal: stop.signal });
    expect((await readings.next()).value).toMatchObject({ reference: 'a' });
    stop.abort();
    await expect(readings.next()).rejects.toMatchObject({ code: 'aborted' });
    expect(asked).toEqual(['a']);
  });

  it('takes no reference before there is a place for it, and ends its source when the reader has enough', async () => {
    let taken = 0;
    let ended = false;
    function* references(): Generator<string> {
      try {
        for (;;) yield `order-${taken++}`;
      } finally {
        ended = true;
      }
    }
    const client: PaymentReader = { getPayment: async (reference) => paymentOf(reference) };
    for await (const { reference } of readPayments({ client, references: references(), concurrency: 2 })) {
      if (reference === 'order-5') break;
    }
    expect({ taken: taken <= 8, ended }).toEqual({ taken: true, ended: true });
  });

  it('asks nothing more once its reader has enough, and leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const asked: string[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const client: PaymentReader = {
      getPayment(reference, options) {
        asked.push(reference);
        if (reference === 'a') return Promise.resolve(paymentOf(reference));
        if (reference === 'b') return Promise.reject(new PaylinkError('rate_limited', 'too many', { retryAfter: 1_000 }));
        signals.push(options?.signal);
        return new Promise(() => undefined);
      },
    };
    const readings = readPayments({ client, references: ['a', 'b', 'c'], concurrency: 3 });
    expect((await readings.next()).value).toMatchObject({ reference: 'a' });
    await readings.return();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits out a Retry-After that is longer than a timer can be set for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const setting = vi.spyOn(globalThis, 'setTimeout');
    const days = 30 * 24 * 3_600_000;
    const client: PaymentReader = {
      getPayment: vi
        .fn<PaymentReader['getPayment']>()
        .mockRejectedValueOnce(new PaylinkError('rate_limited', 'too many', { retryAfter: days }))
        .mockImplementation(async (reference) => paymentOf(reference)),
    };
    const reading = gather(readPayments({ client, references: ['a'] }));
    await vi.advanceTimersByTimeAsync(days - 1);
    expect(client.getPayment).toHaveBeenCalledOnce();
    expect(Math.max(...setting.mock.calls.map(([, milliseconds]) => milliseconds ?? 0))).toBeLessThan(2 ** 31);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await reading).toEqual(['a']);
  });

  it('rejects as soon as the caller aborts, also where the reader hangs', async () => {
    const stop = new AbortController();
    const client: PaymentReader = {
      getPayment: () => {
        setImmediate(() => stop.abort());
        return new Promise(() => undefined);
      },
    };
    const readings = readPayments({ client, references: ['a'], signal: stop.signal, timeout: 600_000 });
    expect(await gather(readings).catch((error: unknown) => error)).toMatchObject({ code: 'aborted' });
  });

  it.each<[string, unknown]>([
    ['client', { references: [] }],
    ['references', { client: { getPayment: () => undefined }, references: 'order-1' }],
    ['concurrency', { client: { getPayment: () => undefined }, references: [], concurrency: 0 }],
    ['concurency', { client: { getPayment: () => undefined }, references: [], concurency: 1 }],
    ['tenant', { client: { getPayment: () => undefined }, references: [], tenant: '' }],
    ['tenant', { client: { getPayment: () => undefined }, references: [], tenant: 7 }],
    ['client', { client: {}, references: [] }],
    ['references', { client: { getPayment: () => undefined }, references: null }],
    ['references', { client: { getPayment: () => undefined }, references: {} }],
    ['timeout', { client: { getPayment: () => undefined }, references: [], timeout: 0 }],
    ['signal', { client: { getPayment: () => undefined }, references: [], signal: {} }],
    ['onPause', { client: { getPayment: () => undefined }, references: [], onPause: 'log' }],
  ])('refuses a wrong %s by its name', async (option, options) => {
    const error: unknown = await gather(readPayments(options as never)).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'misconfigured', option });
  });
});
