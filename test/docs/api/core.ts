import {
  cachedSecret,
  ConfigurationError,
  createGate,
  createReceiver,
  createVerifier,
  isWebhookError,
  sign,
  verifySignature,
  WebhookError,
  webhookEvent,
} from '@paylink/core';
import { merchantAt, orders, payments } from './shop.js';

const secret = process.env['WEBHOOK_SECRET'];
declare const rawBody: Uint8Array;
declare const headers: Headers;
declare const signature: string;

// #region createVerifier
const verifier = createVerifier({ secret });
const event = await verifier.verify(rawBody, headers); // or throws a WebhookError
console.log(event.reference);
// #endregion

// #region verifySignature
await verifySignature(rawBody, signature, secret); // resolves, or throws a WebhookError
// #endregion

// #region sign
const hex = await sign('{"reference":"order-42"}', 'the-secret-of-your-portal');
console.log(hex); // 64 lower-case hex digits
// #endregion

// #region createReceiver
const receiver = createReceiver({ secret }, payments.receive);
const reply = await receiver.receive(
  { method: 'POST', header: (name) => headers.get(name) ?? undefined, body: async () => rawBody },
  {},
);
console.log(reply.status, reply.body);
// #endregion

// #region createGate
const gate = createGate({ secret });
const refusal = await gate.admit(
  { method: 'POST', header: (name) => headers.get(name) ?? undefined, body: async () => rawBody },
  {},
  headers,
);
if (refusal === undefined) console.log(webhookEvent(headers).reference);
// #endregion

// #region webhookEvent
console.log(webhookEvent(headers).type); // the object that the gate admitted
// #endregion

// #region cachedSecret
export const secretOf = cachedSecret(
  async ({ merchant }: { readonly merchant: string }) => {
    const { id, webhookSecret } = await merchantAt(merchant);
    return { secret: webhookSecret, tenant: id };
  },
  { key: ({ merchant }) => merchant, ttl: 60_000 },
);
// #endregion

// #region WebhookError
export const handler = async ({ reference }: { readonly reference: string }) => {
  if ((await orders.find(reference)) === undefined) throw new WebhookError('unknown_order');
};
// #endregion

// #region isWebhookError
try {
  await verifier.verify(rawBody, headers);
} catch (error) {
  if (!isWebhookError(error)) throw error;
  console.log(error.code, error.status);
}
// #endregion

// #region ConfigurationError
try {
  createVerifier({ secret: '' });
} catch (error) {
  if (error instanceof ConfigurationError) console.log(error.option); // secret
}
// #endregion
