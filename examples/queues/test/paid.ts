import type { Confirm } from '../src/orders.js';

/** Stands for the service: every payment succeeded, with this amount. */
export const AMOUNT = 5_000;
export const paid: Confirm = { getPayment: async (reference) => ({ reference, status: 'success', amount: AMOUNT }) };
