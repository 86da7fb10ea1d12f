import { testOrders, type TestOrdersOptions } from '@paylink/testing';

export type Broken = Omit<TestOrdersOptions, 'test'>;

/**
 * Runs the checks of `testOrders`, up to the first fault that matches `sought`. Returns the
 * sentences of those that failed.
 */
export async function faultsOf(options: Broken, sought?: RegExp): Promise<string[]> {
  const checks: (() => Promise<void>)[] = [];
  const test = Object.assign((_title: string, run: () => Promise<void>) => checks.push(run), {
    skip: () => undefined,
  });
  testOrders({ ...options, test });
  const faults: string[] = [];
  for (const run of checks) {
    await run().catch((error: unknown) => faults.push((error as Error).message));
    if (sought !== undefined && faults.some((fault) => sought.test(fault))) break;
  }
  return faults;
}
