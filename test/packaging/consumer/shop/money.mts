import { createClient, isPaylinkError, PaylinkError, type Payment } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments, type Orders } from '@paylink/payments';

const secret = process.env['WEBHOOK_SECRET'];
const paylink = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
declare const database: { run(sql: string, ...values: unknown[]): Promise<number> };
const UPDATE = 'UPDATE orders SET paid_at = now() WHERE reference = ? AND paid_at IS NULL';

const orders: Orders = {
  find: async (reference, { tenant }) => ({
    // @ts-expect-error null if there is one merchant
    reference: tenant.concat(reference),
    amount: 15_000n,
    currency: 'XOF',
    paid: false,
  }),
  credit: async ({ reference, currency, amount }, { signal }) => {
    const text: string = currency;
    signal.throwIfAborted();
    return database.run(UPDATE, reference, text, amount.toFixed());
  },
};
const payments = createPayments({ client: paylink, orders });
export const credited = paymentWebhook({ secret }, payments.receive);

createPayments({
  client: paylink,
  orders: {
    find: orders.find,
    // @ts-expect-error the number of changed rows, not a boolean
    credit: async () => true,
  },
});
// @ts-expect-error `find` says whether the order is paid
createPayments({ client: paylink, orders: { ...orders, find: () => ({ reference: 'order-42' }) } });

export async function read(reference: string): Promise<Payment['status'] | PaylinkError['code']> {
  try {
    await paylink.createPaymentLink({ amount: 15_000, reference, single_use: true });
    const { status } = await payments.settle(reference);
    if (status === 'paid') return 'success';
    return (await paylink.getPayment(reference)).status;
  } catch (error) {
    if (isPaylinkError(error)) return error.code;
    throw error;
  }
}

export const both = (): Promise<unknown> =>
  // @ts-expect-error an amount, or a range that the customer chooses of
  paylink.createPaymentLink({
    amount: 1,
    amount_min: 1,
    amount_max: 2,
    description: 'A basket',
    reference: 'order-42',
  });
