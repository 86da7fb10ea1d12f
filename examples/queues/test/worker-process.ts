/** A worker that credits by `tx` and then stops before the commit, and says so: to be killed. */
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { startWorker as startOnBullmq } from '../src/bullmq.js';
import { handlers, type Handlers } from '../src/orders.js';
import { startWorker as startOnPgBoss } from '../src/pg-boss.js';

const [queue, databaseUrl, redisPort] = process.argv.slice(2) as [string, string, string];
const pool = new Pool({ connectionString: databaseUrl });
const stopping: Handlers = {
  'payment.succeeded': async (event, context) => {
    await handlers['payment.succeeded'](event, context);
    process.send!('credited');
    await new Promise(() => undefined);
  },
};
if (queue === 'BullMQ')
  startOnBullmq({ port: Number(redisPort), maxRetriesPerRequest: null }, pool, stopping, { lockDuration: 2_000 });
else await startOnPgBoss(await new PgBoss({ connectionString: databaseUrl }).start(), pool, stopping);
