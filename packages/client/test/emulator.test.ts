import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type PaylinkClient } from '../src/index.js';
import { API_KEY, failure } from './raw-server.js';

let emulator: Emulator;
let client: PaylinkClient;

async function start(assumed: EmulatorOptions['assumed'] = {}): Promise<void> {
  emulator = await startEmulator({ assumed });
  client = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey, retries: 0 });
}

beforeEach(() => start());
afterEach(() => emulator.close());

describe('the client against the emulator', () => {
  it('accepts the pay page of an emulator only on hosts in allowHttp', async () => {
    const remote = await startEmulator({ payUrl: 'http://pay.example' });
    const of = (...allowHttp: string[]): PaylinkClient =>
      createClient({
        baseUrl: 'http://emulator:4010/api',
        apiKey: remote.apiKey,
        allowHttp: ['emulator', ...allowHttp],
        fetch: (url, init) => fetch(url.replace('http://emulator:4010/api', remote.baseUrl), init),
      });
    const link = (reference: string) => ({ amount: 500, reference, single_use: true });
    expect((await of('pay.example').createPaymentLink(link('order-1'))).url).toMatch(
      /^http:\/\/pay\.example/,
    );
    expect(await failure(of().createPaymentLink(link('order-2')))).toMatchObject({
      code: 'response_mismatch',
    });
    await remote.close();
  });

  it('creates one link per key, for any answer of the service to a repeated key', async () => {
    const link = { amount: 1, reference: 'order-1' };
    const options = { idempotencyKey: 'order-1' };
    const first = await client.createPaymentLink(link, options);
    expect(await client.createPaymentLink(link, options)).toEqual(first);

    await emulator.close();
    await start({ replayedKey: 'refuse' });
    await client.createPaymentLink(link, options);
    expect(await failure(client.createPaymentLink(link, options))).toMatchObject({
      code: 'conflict',
      status: 409,
    });

    await emulator.close();
    await start({ replayedKeyOtherBody: 'same_link' });
    await client.createPaymentLink(link, options);
    // Another process does not know the first use of the key, so the service returns the old link
    // with the old amount.
    const other = createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
    expect(await failure(other.createPaymentLink({ ...link, amount: 2 }, options))).toMatchObject({
      code: 'response_mismatch',
    });
  });

  it.each([
    'a/b',
    'a?b#c',
    '100%',
    'a%2Fb',
    'café',
    '../x',
    '...',
    '%2e%2e',
    'a b',
    '+',
    '😀',
    ';=&',
    "'()*!~",
  ])('L04 encodes the reference %s once, and finds its payment', async (reference) => {
    await client.createPaymentLink({ amount: 1, reference });
    expect(await client.getPayment(reference)).toMatchObject({ reference, status: 'pending' });
  });
});

describe('the path of a payment request', () => {
  const wellFormed = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => text.trim() !== '' && !text.includes('\0') && text !== '.' && text !== '..');

  it('L04 decodes to the same reference, for every reference', async () => {
    let asked = '';
    const fetch = (url: string): Promise<Response> => {
      asked = new URL(url).href;
      return Promise.resolve(Response.json({}));
    };
    const recorded = createClient({
      baseUrl: 'https://service.example/api',
      apiKey: API_KEY,
      fetch,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          wellFormed,
          fc.stringMatching(/^[./%?#\\@:2e5cF]{1,8}$/).filter((t) => t !== '.' && t !== '..'),
        ),
        async (reference) => {
          await failure(recorded.getPayment(reference));
          const [start, encoded] = [asked.slice(0, 40), asked.slice(40)];
          expect(start).toBe('https://service.example/api/v1/payments/');
          expect(decodeURIComponent(encoded)).toBe(reference);
          expect(encoded).not.toMatch(/[/?#]/);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each(['.', '..', '', ' ', 'a\0', '\ud800', 'x\udfffy', 42, null, undefined, ['a']])(
    'rejects %j with a typed error and sends nothing',
    async (reference) => {
      const never = (): never => {
        throw new Error('sent');
      };
      const closed = createClient({
        baseUrl: 'https://service.example/api',
        apiKey: API_KEY,
        fetch: never,
      });
      expect(await failure(closed.getPayment(reference as string))).toMatchObject({
        code: 'invalid_reference',
      });
    },
  );
});
