import type { Client } from '../src/orders.js';

export const AMOUNT = 5_000;

/** Stands for the service: every payment succeeded, with this amount. */
export const paid: Client = {
  getPayment: async (reference) => ({
    reference,
    status: 'success',
    amount: AMOUNT,
    currency: 'XOF',
  }),
};
