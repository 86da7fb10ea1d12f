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
  ])('encodes the reference %s once, and finds its payment', { tags: 'L04' }, async (reference) => {
    await client.createPaymentLink({ amount: 1, reference });
    expect(await client.getPayment(reference)).toMatchObject({ reference, status: 'pending' });
  });
});

describe('the path of a payment request', () => {
  const wellFormed = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => text.trim() !== '' && !text.includes('\0') && text !== '.' && text !== '..');

  it('decodes to the same reference, for every reference', { tags: 'L04' }, async () => {
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
