export { createClient, type CreatePaymentLinkOptions, type GetPaymentOptions, type PaylinkClient } from './client.js';
export { ConfigurationError, isPaylinkError, PaylinkError, type PaylinkErrorCode } from './errors.js';
export type { FixedAmountLink, FreeAmountLink, PaymentLinkRequest } from './link.js';
export type { ClientOptions, FetchLike } from './options.js';
export type { Payment, PaymentLink, PaymentStatus, SuccessfulPayment } from './payment.js';
export type { ReconcileOutcome, ReconcileReport, ReconcileResult } from './reconcile-report.js';
export { reconcile, type PaymentReader, type ReconcileContext, type ReconcileOptions } from './reconcile.js';
export type { IdempotencyOption, IdempotencyStore, ReconciledEvent, RunResult } from './store.js';
