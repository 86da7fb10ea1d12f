/** Credits orders through one recipe. Reads references from stdin, and prints each paid one. */
import { createInterface } from 'node:readline';
import { createPayments } from '@paylink/payments';

const { orders } = await import('recipe');
const payments = createPayments({
  client: {
    getPayment: async (reference) => ({
      reference,
      status: 'success',
      amount: 1_500,
      currency: 'XOF',
    }),
  },
  orders,
  logger: { warn: () => undefined, error: () => undefined },
});

const rawBody = new Uint8Array();
async function receive(reference: string): Promise<void> {
  const event = {
    type: 'payment.succeeded',
    reference,
    payload: { reference },
    rawBody,
    secretIndex: 0,
    tenant: null,
  } as const;
  for (;;) {
    // A refusal is a 503, after which the service delivers again.
    const isPaid = await payments.receive(event).then(
      () => true,
      () => false,
    );
    if (isPaid) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Goes around the run that receive shares within a process, so that the database decides. */
async function race(reference: string, calls: number): Promise<void> {
  const context = {
    tenant: null,
    signal: new AbortController().signal,
    source: 'webhook',
  } as const;
  const payment = { reference, amount: 1_500, currency: 'XOF' };
  await Promise.all(
    Array.from({ length: calls }, async () => orders.credit(payment, context)),
  ).catch(() => undefined);
  await receive(reference);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const [reference = '', calls] = line.split(' ');
  const paying = calls === undefined ? receive(reference) : race(reference, Number(calls));
  void paying.then(() => process.stdout.write(`${reference}\n`));
});
await orders.find('warm-up', { tenant: null, signal: new AbortController().signal });
process.stdout.write('ready\n');
