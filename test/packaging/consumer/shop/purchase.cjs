/**
 * Shared by the ESM and the CJS consumer: a purchase by client and emulator, whose notification
 * comes twice, credited on a database. Says what was credited.
 */
const express = require('express');

const secret = 'a-secret-of-the-portal';

module.exports = async function purchase(parts) {
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
  const told = await onDatabase(parts, shop);
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
