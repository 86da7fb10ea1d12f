export {
  createClient,
  type CreatePaymentLinkOptions,
  type GetPaymentOptions,
  type PaylinkClient,
} from './client.js';
export { isPaylinkError, PaylinkError, type PaylinkErrorCode } from './errors.js';
export type { FixedAmountLink, FreeAmountLink, PaymentLinkRequest } from './link.js';
export type { ClientOptions, FetchLike } from './options.js';
export type { Payment, PaymentLink, PaymentStatus, SuccessfulPayment } from './payment.js';
export { ConfigurationError } from '@paylink/core';
