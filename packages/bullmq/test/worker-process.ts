/** A worker that stops in the middle of its handler, before the effect, and says so: to be killed. */
import { redisStore } from '@paylink/redis';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createProcessor } from '../src/index.js';

const [port, queue] = process.argv.slice(2) as [string, string];
const connection = { port: Number(port), maxRetriesPerRequest: null };
const processor = createProcessor({ idempotency: redisStore(new Redis(connection), { leaseMs: 2_000 }) }, () => {
  process.send!('working');
  return new Promise(() => undefined);
});
new Worker(queue, processor, { connection, lockDuration: 1_000, stalledInterval: 500 });
