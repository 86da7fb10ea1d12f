/** A worker that credits through `tx`, reports it, and stops before the commit: to be killed. */
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { startWorker as startOnBullmq } from '../src/bullmq.js';
import { handlers, type Handlers } from '../src/orders.js';
import { startWorker as startOnPgBoss } from '../src/pg-boss.js';
import { paid } from './paid.js';

const [queue, databaseUrl, redisPort] = process.argv.slice(2) as [string, string, string];
const pool = new Pool({ connectionString: databaseUrl });
const stopping: Handlers = {
  'payment.succeeded': async (event, context) => {
    await handlers['payment.succeeded'](event, context);
    process.send!('credited');
    await new Promise(() => undefined);
  },
};
const settings = { pool, confirm: paid, map: stopping };
if (queue === 'BullMQ') {
  const connection = { port: Number(redisPort), maxRetriesPerRequest: null };
  startOnBullmq({ ...settings, connection, pace: { lockDuration: 2_000 } });
} else {
  await startOnPgBoss({ ...settings, boss: await new PgBoss({ connectionString: databaseUrl }).start() });
}
