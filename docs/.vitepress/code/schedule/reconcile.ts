import type { Payments } from '@paylink/payments';

/** Credits the paid orders whose notification was lost. Throws if an order was not read. */
export async function reconcile(payments: Payments, timeLimit: number): Promise<void> {
  const report = await payments.reconcile(undefined, { timeLimit, tenant: null });
  console.log('reconcile', JSON.stringify(report));
  const left = report.errors.count + report.notAsked.count;
  if (left > 0) throw new Error(`${left} orders were not read or not credited`);
}
