import { createHmac } from 'node:crypto';
import { createVerifier, isWebhookError, type WebhookHeaders } from '@paylink/core';
import fc from 'fast-check';

const SECRET = 'a-secret-for-the-properties';

/** The part of a verifier that the property needs. */
export interface Reader {
  verify(rawBody: Uint8Array, headers: WebhookHeaders): Promise<unknown>;
}

const text = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'null', '{"reference":"\\ud800"}', '\ufeff{}'),
);
const bodies = fc.oneof(
  { weight: 3, arbitrary: text.map((value) => Buffer.from(value)) },
  {
    weight: 3,
    arbitrary: fc.json().map((json) => Buffer.from(`{"reference":"order-42","status":${json}}`)),
  },
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.anything(),
);
const values = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string()), fc.anything());
const headers = fc.record(
  {
    'x-service-event': fc.oneof({ weight: 3, arbitrary: fc.constant('payment.succeeded') }, values),
    'x-service-signature': fc.oneof({ weight: 5, arbitrary: fc.constant('right') }, values),
  },
  { requiredKeys: [] },
);

/** Holds if every input yields an event or a WebhookError, and changes no prototype. */
export function onlyWebhookErrors(reader: Reader = createVerifier({ secret: SECRET })) {
  return fc.asyncProperty(bodies, headers, async (body, sent) => {
    const given: Record<string, unknown> = { ...sent };
    if (given['x-service-signature'] === 'right' && body instanceof Uint8Array) {
      given['x-service-signature'] = createHmac('sha256', SECRET).update(body).digest('hex');
    }
    const error: unknown = await reader.verify(body as Uint8Array, given as WebhookHeaders).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return (
      (error === undefined || isWebhookError(error)) && Object.keys(Object.prototype).length === 0
    );
  });
}
