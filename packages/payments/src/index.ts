export type {
  AskOptions,
  ClientOption,
  PaymentClient,
  PaymentStatus,
  ServicePayment,
} from './ask.js';
export type { Credit, CreditContext, CreditResult, Paid, Source } from './credit.js';
export { identify, type Identified, type Identity } from './identity.js';
export { memoryStore, type MemoryStoreOptions } from './memory-store.js';
export type { ObservePayments, PaymentOutcome } from './observe.js';
export { createPayments, type Payments } from './payments.js';
export type { ReceiveContext, Received } from './receive.js';
export {
  readPayments,
  type PaymentReading,
  type ReadPaymentsOptions,
} from './reconcile/read-payments.js';
export type { ReconcileOptions } from './reconcile/reconcile.js';
export type { References } from './reconcile/references.js';
export type { FailedOrder, ReconcileProgress, ReconcileReport } from './reconcile/report.js';
export type { AnyEvent, KindHandler, PaymentsOptions } from './settings.js';
export type { Settled, SettleOptions } from './settle.js';
export type {
  FailedDelivery,
  Inbox,
  KeptDelivery,
  PaymentStore,
  RunOptions,
  RunResult,
} from './store.js';
export { ConfigurationError, WebhookError } from '@paylink/core';
