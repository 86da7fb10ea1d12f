/** A merchant's money half and tests, which export what Paylink returns. */
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { createPayments, memoryOrders } from '@paylink/payments';
import { attacks, signedDelivery } from '@paylink/testing';

export const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
export const { orders, add } = memoryOrders();
export const payments = createPayments({ client, orders });
export const perMerchant = createPayments({ client: () => client, orders });
export const settled = async (reference: string) => payments.settle(reference);
export const report = async () => payments.reconcile();
export const verified = async () => payments.verify();
export const explained = async (reference: string) => payments.explain(reference);
export const link = async () => client.createPaymentLink({ amount: 500, reference: 'order-1' });

export const delivery = signedDelivery({ secret: 'secret', reference: 'order-1' });
export const kit = attacks({ secret: 'secret' });
export const emulator = async () => startEmulator();
