// Must be first: imports #hmac, which throws a clear error in a browser or jsdom.
export { sign, verifySignature } from './signature.js';
export { BodyCollector } from './body-collector.js';
export { cachedSecret, type CachedSecretOptions } from './cached-secret.js';
export type { BodyLimits, Delivery, WebhookHeaders } from './delivery.js';
export {
  check,
  ConfigurationError,
  isWebhookError,
  WebhookError,
  type WebhookErrorOptions,
} from './errors.js';
export { isWellFormed } from './bytes.js';
export { isProduction } from './environment.js';
export { isEventKind, parsePayload } from './event.js';
export type { KnownEvent, UnrecognizedEvent, WebhookEvent, WebhookPayload } from './event.js';
export type { EventReceiver, Handled, Handler, HandlerContext, Handlers } from './handlers.js';
export { hostError } from './host-error.js';
export { logLine, createLogger, type LogFields, type Logger } from './logger.js';
export type { GateOptions, ReceiverOptions, VerifierOptions } from './options.js';
export { validateBound, validateOptions } from './validate-options.js';
export { keepEvent, webhookEvent } from './proven-event.js';
export { faultOfReference } from './reference.js';
export {
  createGate,
  createReceiver,
  type Admission,
  type Gate,
  type Receiver,
} from './receiver.js';
export { errorReply, type Reply, type WebhookErrorCode } from './reply.js';
export type { DeliveryOutcome, ObserveHook } from './reporting.js';
export { failureOf } from './result.js';
export type { EventSchemas, EventTypes, NoEvents, SchemasOf, StandardSchema } from './schema.js';
export type { Secret, SecretList, SecretOption, SecretProvider, TenantSecret } from './secret.js';
export { checkSignal, pause, withinBounds, type Bounds } from './time-limit.js';
export { createVerifier, type Verifier } from './verifier.js';
