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
  const { PGlite, postgresStore, paymentWebhook, createPayments } = parts;
  const database = new PGlite();
  await database.exec(
    "CREATE TABLE orders (reference text, credits int); INSERT INTO orders VALUES ('order-42', 0)",
  );
  const store = postgresStore(database);
  await store.migrate();
  const credit = async ({ reference }, { tx }) => {
    const update = 'UPDATE orders SET credits = credits + 1 WHERE reference = $1';
    return (await tx.query(update, [reference])).affectedRows;
  };
  const payments = createPayments({ client, store, credit });
  app.post('/webhooks/payments', paymentWebhook({ secret }, payments));
  const again = await notifyTwice();
  const { duplicates } = await payments.reconcile(['order-42']);
  const { rows } = await database.query('SELECT credits FROM orders');
  await database.close();
  return { credits: rows[0].credits, again, duplicates };
}

async function throughQueue(parts, { app, client, notifyTwice }, port) {
  const { Redis, Queue, Worker, enqueue, createProcessor, redisStore, paymentWebhook } = parts;
  const { createPayments } = parts;
  const redis = new Redis(port);
  const connection = { host: '127.0.0.1', port };
  const queue = new Queue('payments', { connection });
  app.post(
    '/webhooks/payments',
    paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) }),
  );
  let credits = 0;
  const credit = async (_, { tx }) => {
    credits += Number(tx.fencingToken > 0);
    return 1;
  };
  const payments = createPayments({ client, store: redisStore(redis), credit });
  const processor = createProcessor(payments);
  const again = await notifyTwice();
  const worker = new Worker('payments', processor, {
    connection: { ...connection, maxRetriesPerRequest: null },
  });
  await new Promise((resolve) => worker.once('drained', resolve));
  await worker.close();
  await queue.close();
  redis.disconnect();
  return { credits, again };
}
