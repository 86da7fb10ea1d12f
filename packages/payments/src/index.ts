export { WebhookError } from '@paylink/core';
export type {
  Amount,
  ConfirmedPayment,
  CreditContext,
  Explanation,
  FindContext,
  Listed,
  ListedErrors,
  Order,
  Orders,
  Outcome,
  PaymentClient,
  PaymentOutcome,
  Payments,
  PaymentsOptions,
  ReconcileReport,
  References,
  ServicePayment,
  Settled,
  Source,
  SweepOptions,
  SweepProgress,
  VerifyReport,
} from './contract.js';
export { memoryOrders, type NewOrder } from './memory-orders.js';
export { createPayments } from './payments.js';
