import { startEmulator } from '@paylink/emulator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type PaylinkClient } from '../src/index.js';
import { clientOf, failure } from './raw-server.js';

describe('the client against the emulator', () => {
  let client: PaylinkClient;
  beforeAll(async () => {
    const { baseUrl, apiKey, close } = await startEmulator();
    client = createClient({ baseUrl, apiKey, retries: 0 });
    afterAll(close);
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
    const recorded = clientOf(async (url) => {
      asked = new URL(url).href;
      return Response.json({});
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
      { numRuns: 200 },
    );
  });

  it.each(['.', '..', '', ' ', 'a\0', '\ud800', 'x\udfffy', 42, null, undefined, ['a']])(
    'rejects %j with a typed error and sends nothing',
    async (reference) => {
      const closed = clientOf(() => expect.fail('sent'));
      const error = await failure(closed.getPayment(reference as string));
      expect(error).toMatchObject({ code: 'invalid_reference' });
    },
  );
});
