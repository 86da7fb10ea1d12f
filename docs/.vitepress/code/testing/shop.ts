import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/fetch';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';

export const emulator = await startEmulator();
export const { orders, add } = memoryOrders();
export const payments = createPayments({
  client: createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }),
  orders,
});

const webhook = paymentWebhook({ secret: TEST_SECRET }, payments.receive);

/** Inserts an order and creates its link. */
export async function order(reference: string) {
  add({ reference, amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference });
}

/** Sends a genuine notification and returns the status of the reply. */
export async function deliver(reference: string): Promise<number> {
  const delivery = signedDelivery({ reference });
  return (await webhook(delivery.toRequest('http://localhost/webhooks/payments'))).status;
}
