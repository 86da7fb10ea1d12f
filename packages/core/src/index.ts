// Must be first: imports #hmac, which throws a clear error in a browser or jsdom.
export { sign, verifySignature } from './signature.js';
export { cachedSecret, type CachedSecretOptions } from './cached-secret.js';
export type { BodyLimits, Delivery, WebhookHeaders } from './delivery.js';
export {
  ConfigurationError,
  isWebhookError,
  WebhookError,
  type WebhookErrorOptions,
} from './errors.js';
export type { KnownEvent, UnrecognizedEvent, WebhookEvent, WebhookPayload } from './event.js';
export type { Handler, HandlerContext, Handlers } from './handlers.js';
export type { Logger } from './logger.js';
export type { ErrorHook, GateOptions, ReceiverOptions, VerifierOptions } from './options.js';
export { webhookEvent } from './proven-event.js';
export { createGate, createReceiver, type Receiver } from './receiver.js';
export type { Reply, WebhookErrorCode } from './reply.js';
export type { DeliveryOutcome, ObserveHook } from './reporting.js';
export type { EventSchemas, EventTypes, NoEvents, SchemasOf, StandardSchema } from './schema.js';
export type { Secret, SecretList, SecretOption, SecretProvider, TenantSecret } from './secret.js';
export { createVerifier, type Verifier } from './verifier.js';
