/**
 * One process of a shop. Takes every order by its role, and ends itself by SIGKILL at a step.
 *
 * Arguments: engine, database, address of the service, role, step, how often the step passes.
 * Writes the reference of each order that it would acknowledge, one per line.
 */
import { writeSync } from 'node:fs';
import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { openDatabase, ordersOf, type EngineName, type Step } from './engines.js';

const [name, url, baseUrl, role, fatalStep, passes] = process.argv.slice(2);
const engine = { name: name as EngineName, url: url! };
const pool = openDatabase(engine);
const reader = openDatabase(engine, 2);
let left = Number(passes);

const atStep = (step: Step): void => {
  if (step === fatalStep && left-- === 0) process.kill(process.pid, 'SIGKILL');
};

const payments = createPayments({
  client: createClient({ baseUrl: baseUrl!, apiKey: 'sk_live_test.secret-part' }),
  orders: ordersOf({ pool, reader }, atStep),
  logger: { warn: () => undefined, error: () => undefined },
});

/** A reply that left the process stays sent, also if the process is killed right after it. */
function acknowledge(reference: string): void {
  atStep('before the reply');
  writeSync(1, `${reference}\n`);
}

async function takeAll(references: readonly string[]): Promise<void> {
  await Promise.all(
    references.map(async (reference) => {
      if (role === 'settle') {
        const { status } = await payments.settle(reference, { wait: 20_000 });
        if (status === 'paid') acknowledge(reference);
        return;
      }
      const event = { type: 'payment.succeeded', reference, tenant: null };
      for (let tries = 1; ; tries++) {
        try {
          await payments.receive(event);
          acknowledge(reference);
          return;
        } catch (error) {
          if (tries === 20) throw error;
        }
      }
    }),
  );
}

const { rows } = await pool.run('SELECT reference FROM orders');
const references = rows.map((row) => String(row['reference'])).sort(() => Math.random() - 0.5);
if (role === 'reconcile') {
  const report = await payments.reconcile(references, { concurrency: 8 });
  for (const each of [...report.credited.references, ...report.paid.references]) acknowledge(each);
} else {
  for (let start = 0; start < references.length; start += 10) {
    await takeAll(references.slice(start, start + 10));
  }
}
await Promise.all([pool.close(), reader.close()]);
process.exit(0);
