import { Queue, Worker } from 'bullmq';
import { payments } from './payments.js';
import { reconcile } from './reconcile.js';

const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };

export const queue = new Queue('reconcile', { connection });
await queue.setGlobalConcurrency(1);
await queue.upsertJobScheduler('reconcile', { every: 300_000 }, { opts: { removeOnFail: 1_000 } });

export const worker = new Worker('reconcile', () => reconcile(payments, 240_000), { connection });
worker.on('failed', (_job, error) => console.error('reconcile failed', error));
