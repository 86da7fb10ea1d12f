import type { Payments } from '@paylink/payments';

// The next run continues there. A new process starts with the oldest orders.
let cursor: string | undefined;

/** Credits the paid orders whose notification was lost. Throws if an order was not read. */
export async function reconcile(payments: Payments, timeLimit: number): Promise<void> {
  const report = await payments.reconcile(undefined, { cursor, timeLimit, tenant: null });
  cursor = report.cursor;
  console.log('reconcile', JSON.stringify(report));
  const left = report.errors.count + report.notAsked.count;
  if (left > 0) throw new Error(`${left} orders were not read or not credited`);
}
