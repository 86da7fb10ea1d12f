export { WebhookError } from '@paylink/core';
export type {
  Amount,
  ConfirmedPayment,
  Order,
  Orders,
  Outcome,
  PaymentClient,
  PaymentOutcome,
  Payments,
  PaymentsOptions,
  ReconcileReport,
  References,
  Source,
  VerifyReport,
} from './contract.js';
export { memoryOrders } from './memory-orders.js';
export { createPayments } from './payments.js';
