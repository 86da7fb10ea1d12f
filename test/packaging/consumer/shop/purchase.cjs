/**
 * Shared by the ESM and the CJS consumer: a purchase through client, emulator and the store on PGlite; and with the port of a Redis,
 * a delivery through a queue to a worker, whose record is on that Redis. Says what was credited.
 */
const express = require('express');
const { signedDelivery } = require('@paylink/testing');

const secret = 'a-secret-of-the-portal';

module.exports = async function purchase(parts, redisPort) {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const emulator = await parts.startEmulator({ webhook: { url: `${url}/webhooks/payments`, secret } });
  const confirm = parts.createClient({ baseUrl: emulator.baseUrl, apiKey: emulator.apiKey });
  const link = { amount: 15_000, reference: 'order-42', description: 'A basket', single_use: true };
  await confirm.createPaymentLink(link);
  const told = { database: await onDatabase(parts, { app, emulator, confirm }) };
  if (redisPort !== undefined) told.queue = await throughQueue(parts, { app, url, confirm }, Number(redisPort));
  await emulator.close();
  server.close();
  server.closeAllConnections();
  console.log(JSON.stringify(told));
};

async function onDatabase({ PGlite, postgresStore, paymentWebhook, reconcile }, { app, emulator, confirm }) {
  const database = new PGlite();
  await database.exec("CREATE TABLE orders (reference text, credits int); INSERT INTO orders VALUES ('order-42', 0)");
  const idempotency = postgresStore(database);
  await idempotency.migrate();
  const credit = ({ reference }, { tx }) => tx.query('UPDATE orders SET credits = credits + 1 WHERE reference = $1', [reference]);
  app.post('/webhooks/payments', paymentWebhook({ secret, confirm, idempotency }, { 'payment.succeeded': credit }));

  await emulator.pay('order-42');
  const delivery = () => emulator.deliveries()[0];
  while (delivery()?.state !== 'delivered') await new Promise((resolve) => setTimeout(resolve, 20));
  const again = await emulator.redeliver(delivery().id);
  const { duplicates } = await reconcile({ client: confirm, references: ['order-42'], idempotency, onSuccess: credit });
  const { rows } = await database.query('SELECT credits FROM orders');
  await database.close();
  return { ...rows[0], again: again.response?.status, duplicates };
}

async function throughQueue(parts, { app, url, confirm }, port) {
  const { Redis, Queue, Worker, enqueue, createProcessor, redisStore, paymentWebhook } = parts;
  const redis = new Redis(port);
  const queue = new Queue('payments', { connection: { host: '127.0.0.1', port } });
  app.post('/queued', paymentWebhook({ secret }, { 'payment.succeeded': enqueue(queue) }));
  const credited = [];
  const processor = createProcessor(
    { idempotency: redisStore(redis), confirm },
    { 'payment.succeeded': ({ reference }, { fencingToken }) => void credited.push([reference, typeof fencingToken]) },
  );
  const worker = new Worker('payments', processor, { connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null } });
  const completed = () => new Promise((resolve) => worker.once('completed', resolve));
  const statuses = [];
  for (let time = 0; time < 2; time++) {
    const done = completed();
    statuses.push((await signedDelivery({ secret, reference: 'order-42' }).send(`${url}/queued`)).status);
    await done;
  }
  await worker.close();
  await queue.close();
  redis.disconnect();
  return { statuses, credited };
}
