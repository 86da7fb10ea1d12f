/**
 * Shared by the ESM and the CJS consumer: a purchase by client and emulator, whose notification
 * comes twice, credited on a database; or with the port of a Redis, by a worker behind a queue.
 * Says what was credited.
 */
const express = require('express');

const secret = 'a-secret-of-the-portal';

module.exports = async function purchase(parts, redisPort) {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/webhooks/payments`;
  const emulator = await parts.startEmulator({ webhook: { url, secret } });
  const client = parts.createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  await client.createPaymentLink({
    amount: 15_000,
    reference: 'order-42',
    description: 'A basket',
    single_use: true,
  });

  const shop = { app, client, notifyTwice: () => notifyTwice(emulator) };
  const told = await (redisPort === undefined
    ? onDatabase(parts, shop)
    : throughQueue(parts, shop, Number(redisPort)));
  await emulator.close();
  server.close();
  server.closeAllConnections();
  console.log(JSON.stringify(told));
};

async function notifyTwice(emulator) {
  await emulator.pay('order-42');
  const delivery = () => emulator.deliveries()[0];
  while (delivery()?.state !== 'delivered') await new Promise((resolve) => setTimeout(resolve, 20));
  return (await emulator.redeliver(delivery().id)).response?.status;
}

async function onDatabase(parts, { app, client, notifyTwice }) {
  const { Database, paymentWebhook, createPayments } = parts;
  const database = new Database(':memory:');
  database.exec('CREATE TABLE orders (reference text PRIMARY KEY, paid int, credits int)');
  database.exec("INSERT INTO orders VALUES ('order-42', 0, 0)");
  const orders = {
    find(reference) {
      const row = database.prepare('SELECT * FROM orders WHERE reference = ?').get(reference);
      return row && { reference, amount: 15_000, currency: 'XOF', paid: row.paid === 1 };
    },
    credit({ reference }) {
      const update =
        'UPDATE orders SET paid = 1, credits = credits + 1 WHERE reference = ? AND paid = 0';
      return database.prepare(update).run(reference).changes;
    },
  };
  const payments = createPayments({ client, orders });
  app.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));
  const again = await notifyTwice();
  const { paid } = await payments.reconcile(['order-42']);
  const { credits } = database.prepare('SELECT credits FROM orders').get();
  database.close();
  return { credits, again, listed: paid.references };
}

async function throughQueue(parts, { app, client, notifyTwice }, port) {
  const { Queue, Worker, enqueue, createProcessor, paymentWebhook } = parts;
  const { createPayments, memoryOrders } = parts;
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue('payments', { connection });
  app.post(
    '/webhooks/payments',
    paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) }),
  );
  const memory = memoryOrders();
  memory.add({ reference: 'order-42', amount: 15_000, currency: 'XOF' });
  let credits = 0;
  const credit = async (...args) => {
    const changed = await memory.orders.credit(...args);
    credits += changed;
    return changed;
  };
  const payments = createPayments({ client, orders: { ...memory.orders, credit } });
  const again = await notifyTwice();
  const worker = new Worker('payments', createProcessor(payments), {
    connection: { ...connection, maxRetriesPerRequest: null },
  });
  await new Promise((resolve) => worker.once('drained', resolve));
  await worker.close();
  await queue.close();
  return { credits, again };
}
