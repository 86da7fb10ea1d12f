import { apiKey, port } from './payment-test-settings';
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startEmulator } from '@paylink/emulator';
import { signedDelivery, testOrders } from '@paylink/testing';
import { checkout } from './checkout';
import { close, createOrder, createTable, orders } from './orders';
import { startHost } from './payment-test-host';
import { payments } from './payments';

let emulator: Awaited<ReturnType<typeof startEmulator>> | undefined;
let host: Awaited<ReturnType<typeof startHost>> | undefined;

before(async () => {
  await createTable();
  emulator = await startEmulator({ port, apiKey });
  host = await startHost();
});

after(async () => {
  await host?.close();
  await emulator?.close();
  await close();
});

async function isPaid(reference: string): Promise<boolean> {
  return (await payments.explain(reference)).outcome === 'paid';
}

it('credits a paid order once, although its notification comes twice', async () => {
  const { reference } = await checkout(15_000);
  await emulator!.pay(reference);
  assert.equal(await host!.deliver(signedDelivery({ reference })), 200);
  assert.equal(await host!.deliver(signedDelivery({ reference })), 200);
  assert.equal(await isPaid(reference), true);
});

it('does not credit an order that is not paid', async () => {
  const { reference } = await checkout(15_000);
  assert.equal(await host!.deliver(signedDelivery({ reference })), 503);
  assert.equal(await isPaid(reference), false);
});

it('refuses a forged notification', async () => {
  const { reference } = await checkout(15_000);
  await emulator!.pay(reference);
  const forged = signedDelivery({ reference, secret: 'not the secret' });
  assert.equal(await host!.deliver(forged), 401);
  assert.equal(await isPaid(reference), false);
});

it('credits on the return page if the notification is lost', async () => {
  const { reference } = await checkout(15_000);
  await emulator!.pay(reference);
  assert.equal((await payments.settle(reference)).status, 'paid');
});

testOrders({ orders, createOrder, test: it });
