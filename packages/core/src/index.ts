export { type ConfirmedPayment, type ConfirmOption, type ConfirmOptions, type PaymentSource } from './confirm.js';
export { type BodyLimits, type Delivery, type HeadersLike, type WebhookHeaders } from './delivery.js';
export { createDispatcher, type Dispatched, type Dispatcher, type ProvenDelivery } from './dispatcher.js';
export { ConfigurationError, isWebhookError, WebhookError, type WebhookErrorOptions } from './errors.js';
export type {
  ConfiguredEvent,
  EventKind,
  KnownEvent,
  PayloadOf,
  UnrecognizedEvent,
  WebhookEvent,
  WebhookEventBase,
  WebhookPayload,
} from './event.js';
export type { Handler, HandlerContext, HandlerMap, Handlers, HostContext, ReceiverHandlers } from './handlers.js';
export type { IdempotencyOption, IdempotencyStore, RunOptions, RunResult, TenantContext } from './idempotency.js';
export { memoryStore, type MemoryStoreOptions } from './memory-store.js';
export type { DeliveryOutcome, ObserveHook } from './reporting.js';
export { logLine } from './log-line.js';
export { logQuietly, type Logger } from './logger.js';
export type { DispatcherOptions, GateEvent, GateOptions, ReceiverOptions, VerifierOptions } from './options.js';
export { createReceiver, type Admission, type Gate, type Receiver } from './receiver.js';
export { errorReply, type Reply, type WebhookErrorCode } from './reply.js';
export type { EventSchemas, EventTypes, NoEvents, SchemaOutput, SchemasOf, StandardSchema } from './schema.js';
export type { Secret, SecretList, SecretOption, SecretProvider } from './secret.js';
export { cachedSecret, type CachedSecretOptions } from './cached-secret.js';
export { sign, verifySignature } from './signature.js';
export type { TenantOption } from './tenant.js';
export { createVerifier, type Verifier } from './verifier.js';
