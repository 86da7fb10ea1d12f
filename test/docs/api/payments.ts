import { createClient } from '@paylink/client';
import { createPayments, memoryOrders, WebhookError } from '@paylink/payments';
import { orders } from './shop.js';

// #region createPayments
export const payments = createPayments({
  client: createClient({
    baseUrl: process.env['PAYLINK_BASE_URL'],
    apiKey: process.env['PAYLINK_API_KEY'],
  }),
  orders,
});
const { status } = await payments.settle('order-42');
const report = await payments.reconcile();
console.log(status, report.credited.count);
// #endregion

// #region memoryOrders
const memory = memoryOrders();
memory.add({ reference: 'order-42', amount: 15_000, currency: 'XOF' });
console.log(await memory.orders.find('order-42', { tenant: null, signal: AbortSignal.timeout(1) }));
// #endregion

// #region WebhookError
await payments
  .receive({ type: 'payment.succeeded', reference: 'order-42', tenant: null })
  .catch((error: unknown) => {
    if (error instanceof WebhookError) console.log(error.code); // such as unknown_order
  });
// #endregion
