// Must be first: imports #hmac, which throws a clear error in a browser or jsdom.
export { sign, verifySignature } from './signature.js';
export { cachedSecret } from './cached-secret.js';
export type { BodyLimits, Delivery, WebhookHeaders } from './delivery.js';
export { ConfigurationError, isWebhookError, WebhookError } from './errors.js';
export type { KnownEvent, WebhookEvent, WebhookPayload } from './event.js';
export type { Handlers } from './handlers.js';
export type { Logger } from './logger.js';
export type { GateOptions, ReceiverOptions, VerifierOptions } from './options.js';
export { webhookEvent } from './proven-event.js';
export { createGate, createReceiver } from './receiver.js';
export type { PaymentGate, PaymentWebhook, Receiver } from './receiver.js';
export type { Reply, WebhookErrorCode } from './reply.js';
export type { ObserveHook } from './reporting.js';
export type { EventSchemas, EventTypes, NoEvents, SchemasOf, StandardSchema } from './schema.js';
export { createVerifier, type Verifier } from './verifier.js';
