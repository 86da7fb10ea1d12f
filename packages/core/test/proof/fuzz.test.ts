import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { createVerifier, isWebhookError } from '../../src/index.js';

const secret = 'a-secret-of-the-portal';
const verifier = createVerifier({ secret });
const signatureOf = (body: Uint8Array) => createHmac('sha256', secret).update(body).digest('hex');
const outcomeOf = (rawBody: Uint8Array, headers: object): Promise<unknown> =>
  verifier.verify(rawBody, headers as Headers).catch((error: unknown) => error);
/** `pnpm lab full-size` runs more. */
const options = { numRuns: Number(process.env['PAYLINK_FUZZ_RUNS'] ?? 300) };
vi.setConfig({ testTimeout: 30_000 + 30 * options.numRuns });

const properties = Object.getOwnPropertyNames(Object.prototype).sort();
afterEach(() => {
  // No body has changed the prototype (J08).
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(properties);
});

// With unpaired surrogates. The text of fast-check itself takes seconds to set up.
const text = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }))
  .map((points) => String.fromCodePoint(...points));
const hex = fc.stringMatching(/^[0-9a-fA-F]{60,68}$/);
const value = fc.oneof(text, hex, fc.array(fc.string(), { maxLength: 3 }), fc.anything());
const names = ['x-service-signature', 'X-Service-Signature', 'x-service-event', 'get', '__proto__'];
const fields = { reference: fc.oneof(text, fc.jsonValue()), status: fc.jsonValue() };
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((json) => Buffer.from(json)),
  fc.record(fields, { requiredKeys: [] }).map((json) => Buffer.from(JSON.stringify(json))),
);

it('no body and no headers pass without the right signature', async () => {
  const headers = fc.dictionary(fc.constantFrom(...names), value);
  const property = fc.asyncProperty(body, headers, async (rawBody, given) => {
    fc.pre(!Object.values(given).includes(signatureOf(rawBody)));
    const outcome = await outcomeOf(rawBody, given);
    expect(isWebhookError(outcome)).toBe(true);
    expect(outcome).toMatchObject({ code: 'invalid_signature' });
  });
  await fc.assert(property, options);
});

it('every signed body gives an event or a WebhookError of status 400 or 503', async () => {
  const property = fc.asyncProperty(body, value, async (rawBody, kind) => {
    const headers = { 'x-service-signature': signatureOf(rawBody), 'x-service-event': kind };
    const outcome = await outcomeOf(rawBody, headers);
    if (isWebhookError(outcome)) expect([400, 503]).toContain(outcome.status);
    else expect(outcome).toMatchObject({ reference: expect.stringMatching(/\S/) as string });
  });
  await fc.assert(property, options);
});

it('an event has exactly the reference that was signed', async () => {
  const reference = text.filter((name) => name.trim() !== '' && !/\0|\p{Surrogate}/u.test(name));
  const property = fc.asyncProperty(reference, fc.jsonValue(), async (wanted, more) => {
    const rawBody = Buffer.from(JSON.stringify({ more, reference: wanted }));
    const headers = {
      'x-service-signature': signatureOf(rawBody),
      'x-service-event': 'payment.succeeded',
    };
    expect(await outcomeOf(rawBody, headers)).toMatchObject({ reference: wanted });
  });
  await fc.assert(property, options);
});
