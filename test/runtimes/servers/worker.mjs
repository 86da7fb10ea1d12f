import * as core from '@paylink/core';
import { paymentWebhook } from '@paylink/fetch';
import { createPayments, memoryOrders } from '@paylink/payments';
import { createChecks } from './checks.cjs';
import createFetchHost from './fetch-host.cjs';

// All of it at the top of the module, where a Worker may do nothing asynchronous and has no
// environment yet.
const checks = createChecks(core);
const handle = createFetchHost(
  paymentWebhook,
  ({ env }) => ({ secret: env.SECRET, tenant: null }),
  checks,
);

const later = (value) => new Promise((resolve) => setTimeout(resolve, 100, value));
const { orders, add } = memoryOrders();
const payments = createPayments({
  client: {
    getPayment: (reference) =>
      later({ reference, status: 'success', amount: 1_000, currency: 'XOF' }),
  },
  orders,
});

/** `/receive/order-1` credits a new order, by payments that all requests share. */
async function receive(reference) {
  add({ reference, amount: 1_000, currency: 'XOF' });
  const event = { type: 'payment.succeeded', reference, tenant: null };
  return Response.json(
    await payments.receive(event).then(
      () => 'credited',
      ({ code }) => code,
    ),
  );
}

export default {
  fetch(request, env) {
    const [, route, reference] = new URL(request.url).pathname.split('/');
    return route === 'receive' ? receive(reference) : handle(request, { env });
  },
};
