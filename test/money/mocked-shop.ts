/** One delivery, one page and one run of the schedule, in a process whose timers are mocked. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPayments, memoryOrders } from '@paylink/payments';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentWebhook } from '@paylink/node';

export async function deliver() {
  const { orders, add } = memoryOrders();
  for (const reference of ['a', 'b', 'c']) add({ reference, amount: 1, currency: 'XOF' });
  const getPayment = async (reference: string) => ({
    ...{ reference, status: 'success', amount: 1, currency: 'XOF' },
  });
  const payments = createPayments({ client: { getPayment }, orders });
  const server = createServer(paymentWebhook({ secret: TEST_SECRET }, payments.receive));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { headers, body } = signedDelivery({ secret: TEST_SECRET, reference: 'a' });
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', method: 'POST', headers });
  sent.end(body);
  const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage];
  const { status } = await payments.settle('b');
  const { credited } = await payments.reconcile(['c']);
  return { status: statusCode, settled: status, reconciled: credited.count };
}
