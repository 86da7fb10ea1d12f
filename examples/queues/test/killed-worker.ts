/** A worker that writes a credit, says so, and stops before the commit, to be killed. */
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import * as onBullmq from '../src/bullmq.js';
import * as onPgBoss from '../src/pg-boss.js';
import { paymentsOn } from './shop.js';

const [databaseUrl, redisPort] = process.argv.slice(2) as [string, string | undefined];
const payments = paymentsOn(new Pool({ connectionString: databaseUrl }), () => {
  process.send!('credited');
  return new Promise(() => undefined);
});
if (redisPort === undefined) {
  const boss = await new PgBoss({ connectionString: databaseUrl }).start();
  await onPgBoss.startWorker(payments, boss);
} else {
  onBullmq.startWorker(payments, {
    connection: { port: Number(redisPort), maxRetriesPerRequest: null },
    lockDuration: 2_000,
    stalledInterval: 500,
  });
}
