const { createClient } = require('@paylink/client');
const { startEmulator } = require('@paylink/emulator');
const { paymentWebhook } = require('@paylink/fetch');
const { createPayments, memoryOrders } = require('@paylink/payments');
const { signedDelivery, TEST_SECRET } = require('@paylink/testing');

const { orders, add } = memoryOrders();
let emulator;
let webhook;

beforeAll(async () => {
  emulator = await startEmulator();
  const payments = createPayments({
    client: createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey }),
    orders,
  });
  webhook = paymentWebhook({ secret: TEST_SECRET }, payments.receive);
});

afterAll(() => emulator.close());

test('credits only a paid order', async () => {
  add({ reference: 'order-1', amount: 15_000, currency: 'XOF' });
  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  await emulator.pay('order-1');
  const delivery = signedDelivery({ reference: 'order-1' });
  const response = await webhook(delivery.toRequest('http://localhost/webhooks/payments'));
  expect(response.status).toBe(200);
});
