import { testOrders, type TestOrdersOptions } from '@paylink/testing';
import { expect, it, type TestOptions } from 'vitest';
import { Shop } from './shop.js';

export type Broken = Omit<TestOrdersOptions, 'test'>;

/** Broken orders, some on a shop in memory, each with the sentence that names its fault. */
export type Designs = Readonly<Record<string, readonly [Broken | Make, RegExp]>>;
export type Make = (shop: Shop) => Broken;

/**
 * Runs the checks of `testOrders`, up to the first fault that matches `sought`. Returns the
 * sentences of those that failed, and the notes of those that could not run.
 */
export async function reportOf(
  options: Broken,
  sought?: RegExp,
): Promise<{ faults: string[]; skipped: string[] }> {
  const checks: ((context: object) => Promise<void>)[] = [];
  const test = Object.assign((_title: string, run: (typeof checks)[0]) => checks.push(run), {
    skip: () => undefined,
  });
  testOrders({ ...options, test });
  const [faults, skipped]: [string[], string[]] = [[], []];
  for (const run of checks) {
    const skip = (note: string): unknown => skipped.push(note);
    await run({ skip }).catch((error: unknown) => faults.push((error as Error).message));
    if (sought !== undefined && faults.some((fault) => sought.test(fault))) break;
  }
  return { faults, skipped };
}

export async function faultsOf(options: Broken | Make, sought?: RegExp): Promise<string[]> {
  const broken = typeof options === 'function' ? options(new Shop()) : options;
  return (await reportOf(broken, sought)).faults;
}

export function testFaults(designs: Designs, options: TestOptions): void {
  it.each(Object.keys(designs))('names the fault of %s', options, async (name) => {
    const [broken, sentence] = designs[name]!;
    expect(await faultsOf(broken, sentence)).toContainEqual(expect.stringMatching(sentence));
  });
}
