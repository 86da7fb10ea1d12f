const { createServer } = require('node:http');
const { startEmulator } = require('@paylink/emulator');
const { paymentWebhook } = require('@paylink/node');

const paid = new Set(); // stands in for your orders table
let server;
let emulator;

beforeAll(async () => {
  server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  emulator = await startEmulator({
    webhook: { url: `http://127.0.0.1:${server.address().port}/webhooks/payments` },
  });
  const options = { secret: emulator.webhookSecret };
  server.on(
    'request',
    paymentWebhook(options, {
      'payment.succeeded': async ({ reference }) => void paid.add(reference),
    }),
  );
});

afterEach(() => emulator.reset());

afterAll(async () => {
  await emulator.close();
  server.close();
});

test('a paid order is marked as paid', async () => {
  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  await emulator.pay('order-1');
  await emulator.waitForDelivery({ reference: 'order-1' });
  expect(paid.has('order-1')).toBe(true);
});
