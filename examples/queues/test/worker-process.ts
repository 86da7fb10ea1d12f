/** A worker that credits through `tx`, reports it, and stops before the commit, to be killed. */
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { startWorker as startOnBullmq } from '../src/bullmq.js';
import { creditAndCount, type Credit } from '../src/orders.js';
import { startWorker as startOnPgBoss } from '../src/pg-boss.js';
import { createWorker } from '../src/sqs.js';
import { paid } from './paid.js';
import { clientOf, invokeOnce } from './sqs-event-source.js';

/** `address` is the queue's server: a Redis port, or an SQS queue's URL. */
const [queue, databaseUrl, address] = process.argv.slice(2) as [string, string, string];
const pool = new Pool({ connectionString: databaseUrl });
const credit: Credit = async (payment, context) => {
  await creditAndCount(payment, context);
  process.send!('credited');
  return new Promise(() => undefined);
};
const settings = { pool, client: paid, credit };
if (queue === 'BullMQ') {
  const connection = { port: Number(address), maxRetriesPerRequest: null };
  startOnBullmq({ ...settings, connection, pace: { lockDuration: 2_000 } });
} else if (queue === 'SQS') {
  const sqs = clientOf(new URL(address).origin);
  const worker = createWorker(settings);
  while ((await invokeOnce(sqs, address, worker)).received === 0) await pause(50);
} else {
  await startOnPgBoss({
    ...settings,
    boss: await new PgBoss({ connectionString: databaseUrl }).start(),
  });
}
