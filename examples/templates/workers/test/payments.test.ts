import assert from 'node:assert/strict';
import { it } from 'node:test';
import { signedDelivery, testOrders } from '@paylink/testing';
import { orders } from '../src/orders.ts';
import { checkout, createOrder, paymentsOfRequest } from '../src/payments.ts';
import worker from '../src/worker.ts';
import { emulator, env } from './worker.ts';

async function deliver(reference: string, secret = env.WEBHOOK_SECRET): Promise<number> {
  const delivery = signedDelivery({ reference, secret });
  const { status } = await worker.fetch(delivery.toRequest('http://shop/webhooks/payments'));
  return status;
}

async function isPaid(reference: string): Promise<boolean> {
  return (await paymentsOfRequest().explain(reference)).outcome === 'paid';
}

it('credits a paid order once, although its notification comes twice', async () => {
  const { reference } = await checkout(15_000);
  await emulator.pay(reference);
  assert.equal(await deliver(reference), 200);
  assert.equal(await deliver(reference), 200);
  assert.equal(await isPaid(reference), true);
});

it('does not credit an order that is not paid', async () => {
  const { reference } = await checkout(15_000);
  assert.equal(await deliver(reference), 503);
  assert.equal(await isPaid(reference), false);
});

it('refuses a forged notification', async () => {
  const { reference } = await checkout(15_000);
  await emulator.pay(reference);
  assert.equal(await deliver(reference, 'not the secret'), 401);
  assert.equal(await isPaid(reference), false);
});

it('credits by the schedule if the notification is lost', async () => {
  const { reference } = await checkout(15_000);
  await emulator.pay(reference);
  await worker.scheduled();
  assert.equal(await isPaid(reference), true);
});

testOrders({ orders, createOrder, test: it });
