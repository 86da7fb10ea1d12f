/** The suite that tries a merchant's credit in every order and with every cut. */
import { checkOptions } from '../check-options.js';
import { skipRunning } from '../orders/index.js';
import { trySchedules, type TrySchedulesOptions } from './try-schedules.js';

/** A runner may pass a context whose `skip(note)` marks the running test as skipped. */
type Run = (...context: unknown[]) => Promise<void>;

export interface TestSchedulesOptions extends Omit<
  TrySchedulesOptions,
  'only' | 'replay' | 'onProgress'
> {
  /** The runner's function: `test` of vitest, jest or node:test, or `it` of mocha. */
  readonly test: (title: string, run: Run, timeout?: number) => unknown;
}

const NAMES = [
  ...['test', 'module', 'databaseUrl', 'databaseVariable', 'createOrder', 'effects'],
  ...['reference', 'callers', 'timeLimit'],
];
/** Milliseconds beside the time limit: processes start, and the last try ends. */
const AROUND = 60_000;

/**
 * Registers two tests that deliver orders through the merchant's module, in separate processes. One
 * tries every order of the round trips of two deliveries. The other cuts a delivery off before and
 * after each of its round trips. A failed test tells the story of the round trips.
 *
 * @throws TypeError for a wrong option
 */
export function testSchedules(options: TestSchedulesOptions): void {
  checkOptions(options, NAMES);
  const { test, timeLimit = 60_000, callers = 2, ...rest } = options;
  if (typeof test !== 'function')
    throw new TypeError('test must be the function `test` of your test runner');
  for (const name of ['module', 'databaseUrl'] as const)
    if (typeof rest[name] !== 'string' || rest[name] === '')
      throw new TypeError(`${name} must be a non-empty string`);
  if (callers !== 2 && callers !== 3) throw new TypeError('callers must be 2 or 3');
  const tests = [
    {
      only: 'orders',
      title: `an order is credited once in every order of the rounds of ${callers} deliveries`,
    },
    {
      only: 'cuts',
      title: 'an order is credited once if a delivery is cut off or killed at any of its rounds',
    },
  ] as const;
  for (const { only, title } of tests) {
    const run: Run = async function (this: unknown, ...[context]) {
      const untested = await explore({ ...rest, callers, timeLimit, only }, context);
      if (untested !== undefined) skipRunning(`not tested: ${title} (${untested})`, context, this);
    };
    test(title, run, timeLimit + AROUND);
  }
}

/** Returns why the exploration is not complete. @throws Error with the story of a fault */
async function explore(
  options: TrySchedulesOptions,
  context: unknown,
): Promise<string | undefined> {
  const { findings, orders, cuts, notTested } = await trySchedules(options);
  const stories = findings.map(({ fault, change, story }) => [fault, ...story, change].join('\n'));
  if (stories.length > 0) throw new Error(stories.join('\n\n'));
  const isOrders = options.only === 'orders';
  const { tried, left } = isOrders ? orders : cuts;
  if (tried === 0 || left > 0) return notTested.join('; ');
  const note = isOrders ? `credited once in ${tried} orders` : `credited once after ${tried} cuts`;
  const { annotate, diagnostic } = Object(context) as Record<string, unknown>;
  for (const write of [annotate, diagnostic])
    if (typeof write === 'function') write.call(context, note);
  return undefined;
}
