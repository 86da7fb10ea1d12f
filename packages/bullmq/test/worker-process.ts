/** A worker to kill: it stops in its credit before the effect, and reports that. */
import { createPayments, memoryStore } from '@paylink/payments';
import { Worker } from 'bullmq';
import { createProcessor } from '../src/index.js';

const [port, queue] = process.argv.slice(2) as [string, string];
const connection = { port: Number(port), maxRetriesPerRequest: null };
const payments = createPayments({
  client: { getPayment: (reference) => Promise.resolve({ reference, status: 'success' }) },
  store: memoryStore(),
  credit() {
    process.send!('working');
    return new Promise<number>(() => undefined);
  },
});
const options = { connection, lockDuration: 1_000, stalledInterval: 500 };
new Worker(queue, createProcessor(payments), options);
