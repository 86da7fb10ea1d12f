import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const paid = new Set<string>(); // stands in for your orders table
let server: Server;
let emulator: Emulator;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  emulator = await startEmulator({
    webhook: { url: `http://127.0.0.1:${port}/webhooks/payments` },
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

test('a failed payment leaves the order unpaid', async () => {
  await emulator.createLink({ amount: 15_000, reference: 'order-2' });
  await emulator.fail('order-2');
  expect(emulator.deliveries()).toEqual([]);
  expect(paid.has('order-2')).toBe(false);
});
