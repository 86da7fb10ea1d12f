import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createVerifier, isWebhookError } from '../src/index.js';

const secret = 'a-secret-of-the-portal';
const verifier = createVerifier({ secret });
const signatureOf = (body: Uint8Array): string => createHmac('sha256', secret).update(body).digest('hex');
const runs = Number(process.env['PAYLINK_FUZZ_RUNS'] ?? 1_000);

const properties = Object.getOwnPropertyNames(Object.prototype).sort();
afterEach(() => {
  // J08: whatever was sent, no prototype has changed.
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(properties);
});

// Of every code point, lone surrogates too. fast-check's own takes seconds to set up.
const anyText = fc.array(fc.integer({ min: 0, max: 0x10ffff })).map((points) => String.fromCodePoint(...points));

const near = fc.oneof(anyText, fc.stringMatching(/^[0-9a-fA-F]{60,68}$/), fc.array(fc.string(), { maxLength: 3 }), fc.anything());
const names = fc.constantFrom('x-service-signature', 'X-Service-Signature', 'x-service-event', 'get', '__proto__', 'constructor');
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .record({ reference: fc.oneof(anyText, fc.jsonValue()), status: fc.jsonValue() }, { requiredKeys: [] })
    .map((value) => Buffer.from(JSON.stringify(value))),
);

describe('whatever comes', () => {
  it('without the right signature nothing passes, and nothing but a WebhookError is thrown (A18, C01)', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.dictionary(names, near), async (rawBody, headers) => {
        const given = headers as Record<string, string>;
        const values = Object.values(headers).filter((value) => value === signatureOf(rawBody));
        fc.pre(values.length === 0);
        const outcome: unknown = await verifier.verify(rawBody, given).catch((error: unknown) => error);
        expect(isWebhookError(outcome)).toBe(true);
        expect(outcome).toMatchObject({ code: expect.stringMatching(/^invalid_signature$/) as string });
      }),
      { numRuns: runs },
    );
  });

  it('signed, it gives an event or a WebhookError of status 400 or 503', async () => {
    await fc.assert(
      fc.asyncProperty(body, near, async (rawBody, kind) => {
        const headers = { 'x-service-signature': signatureOf(rawBody), 'x-service-event': kind as string };
        const outcome: unknown = await verifier.verify(rawBody, headers).catch((error: unknown) => error);
        if (isWebhookError(outcome)) expect([400, 503]).toContain(outcome.status);
        else expect(outcome).toMatchObject({ reference: expect.stringMatching(/\S/) as string, secretIndex: 0 });
      }),
      { numRuns: runs },
    );
  });

  it('signed, with a reference: the event has that very reference', async () => {
    const reference = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.trim() !== '' && !text.includes('\0') && !/\p{Surrogate}/u.test(text));
    await fc.assert(
      fc.asyncProperty(reference, fc.jsonValue(), async (wanted, more) => {
        const rawBody = Buffer.from(JSON.stringify({ more, reference: wanted }));
        const headers = { 'x-service-signature': signatureOf(rawBody), 'x-service-event': 'payment.succeeded' };
        expect((await verifier.verify(rawBody, headers)).reference).toBe(wanted);
      }),
      { numRuns: runs },
    );
  });
});
