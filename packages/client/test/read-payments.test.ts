import { describe, expect, it } from 'vitest';
import { PaylinkError, readPayments, type Payment, type PaymentReader, type PaymentReading } from '../src/index.js';

const paymentOf = (reference: string): Payment => ({ reference, type: 'payment', amount: 1, currency: 'XOF', status: 'success' });

async function gather(readings: AsyncIterable<PaymentReading>): Promise<string[]> {
  const said: string[] = [];
  for await (const reading of readings) {
    said.push('payment' in reading ? reading.reference : `${reading.reference}: ${(reading.error as PaylinkError).code}`);
  }
  return said;
}

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

  it('rejects as soon as the caller aborts, also where the reader hangs', async () => {
    const stop = new AbortController();
    const client: PaymentReader = {
      getPayment: () => {
        stop.abort();
        return new Promise(() => undefined);
      },
    };
    const error: unknown = await gather(readPayments({ client, references: ['a'], signal: stop.signal })).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'aborted' });
  });

  it.each<[string, unknown]>([
    ['client', { references: [] }],
    ['references', { client: { getPayment: () => undefined }, references: 'order-1' }],
    ['concurrency', { client: { getPayment: () => undefined }, references: [], concurrency: 0 }],
    ['concurency', { client: { getPayment: () => undefined }, references: [], concurency: 1 }],
    ['tenant', { client: { getPayment: () => undefined }, references: [], tenant: '' }],
  ])('refuses a wrong %s by its name', async (option, options) => {
    const error: unknown = await gather(readPayments(options as never)).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'misconfigured', option });
  });
});
