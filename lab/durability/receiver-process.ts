/**
 * A merchant's server in its own process, so that it can be killed. receivers.ts starts it and
 * tells it when to listen.
 */
import type { AddressInfo } from 'node:net';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import express from 'express';
import pg from 'pg';
import { creditOrder } from './credit-order.js';
import { PATH, SECRET } from './delivery.js';
import { designs } from './designs/index.js';
import type { Order, ReceiverSettings, Told } from './receivers.js';
import { paidService } from './service.js';

const settings = JSON.parse(process.argv[2]!) as ReceiverSettings;
const tell = (message: Told): void => void process.send!(message);

const pool = new pg.Pool({ connectionString: settings.database, max: settings.connections });
pool.on('error', () => undefined);
const { store, credit } = designs[settings.design];
const payments = createPayments({
  client: paidService,
  store: store({ pool, redis: settings.redis }),
  credit: (payment, { tx }) => creditOrder(tx, payment, settings.workMs, credit),
});
const app = express();
app.post(PATH, paymentWebhook({ secret: SECRET }, payments));

process.on('message', (order: Order) => {
  if (order === 'memory') {
    gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    tell({ memory: { rss, live: heapUsed + external } });
    return;
  }
  const server = app.listen(order.port, '127.0.0.1', () => {
    tell({ port: (server.address() as AddressInfo).port });
  });
});
// Exits if its parent is gone.
process.on('disconnect', () => process.exit());

// Connects before it reports ready, so that a spare can take over at once.
await pool.query('SELECT 1');
tell({ ready: true });
