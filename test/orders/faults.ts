import { testOrders, type TestOrdersOptions } from '@paylink/testing';

export type Broken = Omit<TestOrdersOptions, 'test'>;

/** Runs every check of `testOrders`. Returns the sentences of those that failed. */
export async function faultsOf(options: Broken): Promise<string[]> {
  const checks: (() => Promise<void>)[] = [];
  const test = Object.assign((_title: string, run: () => Promise<void>) => checks.push(run), {
    skip: () => undefined,
  });
  testOrders({ ...options, test });
  const faults: string[] = [];
  for (const run of checks)
    await run().catch((error: unknown) => faults.push((error as Error).message));
  return faults;
}
