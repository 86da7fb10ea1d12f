import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/node';

void test('a paid order is marked as paid', async (t) => {
  const paid = new Set<string>(); // stands in for your orders table
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const emulator = await startEmulator({
    webhook: { url: `http://127.0.0.1:${port}/webhooks/payments` },
  });
  t.after(async () => {
    await emulator.close();
    server.close();
  });
  const options = { secret: emulator.webhookSecret };
  server.on(
    'request',
    paymentWebhook(options, {
      'payment.succeeded': async ({ reference }) => void paid.add(reference),
    }),
  );

  await emulator.createLink({ amount: 15_000, reference: 'order-1' });
  await emulator.pay('order-1');
  await emulator.waitForDelivery({ reference: 'order-1' });
  assert.ok(paid.has('order-1'));
});
