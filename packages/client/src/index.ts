export { createClient, type CreatePaymentLinkOptions, type GetPaymentOptions, type PaylinkClient } from './client.js';
export { isPaylinkError, PaylinkError, type PaylinkErrorCode } from './errors.js';
export type { FixedAmountLink, FreeAmountLink, PaymentLinkRequest } from './link.js';
export type { ClientOptions, FetchLike } from './options.js';
export type { Payment, PaymentLink, PaymentStatus, SuccessfulPayment } from './payment.js';
export { readPayments, type PaymentReading, type ReadPaymentsOptions } from './read-payments.js';
export type { ReconcileOutcome, ReconcileProgress, ReconcileReport, ReconcileResult } from './reconcile-report.js';
export {
  reconcile,
  type IdempotencyOption,
  type PaymentReader,
  type ReconcileContext,
  type ReconciledEvent,
  type ReconcileOptions,
} from './reconcile.js';
export { ConfigurationError, type IdempotencyStore, type RunResult } from '@paylink/core/idempotency';
