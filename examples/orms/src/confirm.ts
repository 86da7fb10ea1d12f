import type { ConfirmedPayment, PaymentSource } from '@paylink/core';

/** The service, asked whether, and how much, was paid: a client of @paylink/client. */
export type Confirm = PaymentSource<ConfirmedPayment & { readonly amount?: number }>;
