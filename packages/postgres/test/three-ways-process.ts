/** A merchant process, to kill: credits orders by webhook, return page and schedule at once. */
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { credit, silent } from './shop.js';

const pool = new Pool({ connectionString: process.argv[2]!, max: 5 });
pool.on('error', () => undefined);
const payments = createPayments({
  client: { getPayment: (reference) => Promise.resolve({ reference, status: 'success' }) },
  store: postgresStore(pool, { logger: silent }),
  logger: silent,
  // Does not look whether the order is paid: only the store prevents a second credit.
  async credit({ reference }, { tx }) {
    const count = await credit(tx, reference);
    process.send!('crediting');
    await tx.query('SELECT pg_sleep(0.02)');
    return count;
  },
});

process.on('message', async (references: string[]) => {
  const events = references.map((reference) => {
    const payload = { reference };
    const rawBody = Buffer.from(JSON.stringify(payload));
    return { type: 'payment.succeeded', reference, payload, rawBody, secretIndex: 0 };
  });
  await Promise.allSettled([
    ...events.map((event) => payments.receive(event)),
    ...references.map((reference) => payments.settle(reference)),
    payments.reconcile(references),
  ]);
  process.send!('ended');
});
process.on('disconnect', () => process.exit());
process.send!('ready');
