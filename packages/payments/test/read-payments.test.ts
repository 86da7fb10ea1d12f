import { afterEach, describe, expect, it, vi } from 'vitest';
import { readPayments, type PaymentClient, type PaymentReading } from '../src/index.js';
import type { ReadPaymentsOptions } from '../src/reconcile/read-payments.js';
import { failure, service, type Payment } from './shop.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const refusal = (retryAfter?: unknown): Error =>
  Object.assign(new Error('slower'), { code: 'rate_limited', status: 429, retryAfter });

async function gather(readings: AsyncIterable<PaymentReading<Payment>>): Promise<string[]> {
  const said: string[] = [];
  for await (const reading of readings) {
    const { reference } = reading;
    const { code } = ('error' in reading ? reading.error : {}) as { code?: string };
    said.push(code === undefined ? reference : `${reference}: ${code}`);
  }
  return said;
}

type Options = Partial<ReadPaymentsOptions<Payment>>;
const read = (client: PaymentClient<Payment>, options: Options = {}) =>
  readPayments({ client, references: ['a', 'b', 'c'], ...options });

describe('readPayments', () => {
  it('yields the readings in the order of the references, `concurrency` at a time', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const client = service(
      () =>
        new Promise((resolve) => {
          waiting.push(() => resolve({}));
          most = Math.max(most, waiting.length);
          // The reference that was asked last is answered first.
          if (waiting.length === 3) for (const answer of waiting.splice(0).reverse()) answer();
        }),
    );
    const references = Array.from({ length: 9 }, (_, number) => `order-${number}`);
    expect(await gather(read(client, { references, concurrency: 3 }))).toEqual(references);
    expect(most).toBe(3);
  });

  it('yields the client’s error for one reference, and reads the others', async () => {
    const notFound = Object.assign(new Error('there is none'), { code: 'not_found' });
    const client = service((reference) =>
      reference === 'a' ? notFound : { reference: reference === 'b' ? 'another' : reference },
    );
    const said = ['a: not_found', 'b: confirm_unavailable', 'c'];
    expect(await gather(read(client))).toEqual(said);
  });

  it('asks a refused reference again after one pause for all, and nothing meanwhile', async () => {
    let until = 0;
    let early = 0;
    let refusals = 0;
    const pauses: number[] = [];
    const client = service((reference) => {
      if (performance.now() < until) early++;
      if (reference !== 'b' || refusals++ === 2) return {};
      until = performance.now() + 100;
      return refusal(100);
    });
    const onPause = (milliseconds: number) => pauses.push(milliseconds);
    const said = await gather(read(client, { concurrency: 1, onPause }));
    expect({ said, early, pauses }).toEqual({
      said: ['a', 'b', 'c'],
      early: 0,
      pauses: [100, 100],
    });
  });

  it.each([undefined, NaN, '5'])(
    'waits a minute at most after a refusal with the delay %o, and gives up after sixty',
    async (retryAfter) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      vi.spyOn(Math, 'random').mockReturnValue(0);
      const pauses: number[] = [];
      const client = service(() => refusal(retryAfter));
      const onPause = (milliseconds: number) => pauses.push(milliseconds);
      const reading = gather(read(client, { references: ['a'], onPause }));
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(await reading).toEqual(['a: rate_limited']);
      expect(client.getPayment).toHaveBeenCalledTimes(60);
      const seconds = pauses.slice(0, 8).map((milliseconds) => milliseconds / 1_000);
      expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    },
  );

  it('waits out a Retry-After that is longer than a timer can be set for', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const days = 30 * 24 * 3_600_000;
    const answers = [refusal(days), {}];
    const client = service(() => answers.shift());
    const reading = gather(read(client, { references: ['a'] }));
    await vi.advanceTimersByTimeAsync(days - 1);
    expect(client.getPayment).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await reading).toEqual(['a']);
  });

  it('hands on a signal, the tenant, and leaves the rate limit to itself', async () => {
    const client = service();
    await gather(read(client, { references: ['a'] }));
    await gather(read(client, { references: ['a'], tenant: 'acme' }));
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(client.getPayment.mock.calls.map(([, options]) => options)).toStrictEqual([
      { signal, retryLimited: false },
      { signal, tenant: 'acme', retryLimited: false },
    ]);
  });

  it('reports a client that hangs as late', async () => {
    const client = service(() => new Promise(() => undefined));
    const said = await gather(read(client, { references: ['a'], timeout: 20 }));
    expect(said).toEqual(['a: confirm_unavailable']);
  });

  it('ends while its source hangs, and throws the error of its source', async () => {
    const hanging = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    };
    const stop = new AbortController();
    const reason = new Error('stop');
    const { signal } = stop;
    const ended = failure(gather(read(service(), { references: hanging, signal })));
    stop.abort(reason);
    expect(await ended).toBe(reason);
    const fault = new Error('the file is gone');
    const next = () => Promise.reject(fault);
    const broken = { [Symbol.asyncIterator]: () => ({ next, return: next }) };
    expect(await failure(gather(read(service(), { references: broken })))).toBe(fault);
  });

  it('takes a reference only if there is a place for it, and closes its source', async () => {
    let taken = 0;
    let ended = false;
    function* references(): Generator<string> {
      try {
        for (;;) yield `order-${taken++}`;
      } finally {
        ended = true;
      }
    }
    const readings = read(service(), { references: references(), concurrency: 2 });
    for await (const { reference } of readings) if (reference === 'order-5') break;
    expect(taken).toBeLessThanOrEqual(8);
    await vi.waitUntil(() => ended);
  });

  it('ends the running requests if the consumer leaves', async () => {
    const signals: AbortSignal[] = [];
    const client = service((reference, { signal }) => {
      signals.push(signal);
      return reference === 'a' ? {} : new Promise(() => undefined);
    });
    const readings = read(client, { concurrency: 2 });
    expect((await readings.next()).value).toMatchObject({ reference: 'a' });
    await vi.waitUntil(() => signals.length === 2);
    await readings.return();
    expect(signals[1]!.aborted).toBe(true);
  });

  it('ends as soon as the caller aborts, even if the client hangs', async () => {
    const stop = new AbortController();
    const reason = new Error('stop');
    const client = service(() => {
      setImmediate(() => stop.abort(reason));
      return new Promise(() => undefined);
    });
    expect(await failure(gather(read(client, { signal: stop.signal })))).toBe(reason);
  });

  it.each<[string, unknown]>([
    ['client', {}],
    ['references', 'order-1'],
    ['references', null],
    ['concurrency', 0],
    ['concurency', 1],
    ['timeout', 0],
    ['signal', {}],
    ['onPause', 'log'],
  ])('names the invalid option %s: %o', async (option, value) => {
    const readings = read(service(), { [option]: value });
    expect(await failure(gather(readings))).toMatchObject({ code: 'misconfigured', option });
  });
});
