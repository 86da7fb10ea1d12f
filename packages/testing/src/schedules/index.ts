/** The suite that tries a merchant's credit in every sequence and with every cut. */
import { basename } from 'node:path';
import { checkOptions } from '../check-options.js';
import { skipRunning } from '../orders/index.js';
import type { TestBody } from '../orders/options.js';
import { trySchedules, type TrySchedulesOptions } from './internal.js';

export interface TestSchedulesOptions extends Omit<
  TrySchedulesOptions,
  'only' | 'replay' | 'onProgress'
> {
  /** The runner's function: `test` from vitest, jest or node:test, or `it` from mocha. */
  readonly test: (title: string, body: TestBody, timeout?: number) => unknown;
}

const NAMES = [
  ...['test', 'module', 'databaseUrl', 'databaseVariable', 'createOrder', 'effects'],
  ...['total', 'reference', 'tenant', 'callers', 'timeLimit'],
];
/** Milliseconds beside the time limit: processes start, and the last try ends. */
const AROUND = 60_000;

/**
 * Registers two tests that run deliveries through the merchant's module, in separate processes. One
 * runs the round trips of two deliveries in every sequence. The other cuts a delivery off before
 * and after each of its round trips. A failed test lists the round trips that led to the error.
 *
 * @throws TypeError for an invalid option
 */
export function testSchedules(options: TestSchedulesOptions): void {
  checkOptions(options, NAMES);
  const { test, timeLimit = 60_000, callers = 2, ...rest } = options;
  if (typeof test !== 'function')
    throw new TypeError('test must be the function `test` of your test runner');
  for (const name of ['module', 'databaseUrl'] as const)
    if (typeof rest[name] !== 'string' || rest[name] === '')
      throw new TypeError(`${name} must be a non-empty string`);
  if (rest.tenant === '') throw new TypeError('tenant must be a non-empty string or null');
  if (callers !== 2 && callers !== 3) throw new TypeError('callers must be 2 or 3');
  const deliveries = callers === 2 ? 'two deliveries' : 'three deliveries';
  const name = basename(rest.module);
  const register = (only: 'orders' | 'cuts', title: string, tried: (count: number) => string) => {
    const body: TestBody = async function (this: unknown, ...[context]) {
      const report = await trySchedules({ ...rest, callers, timeLimit, only });
      const stories = report.findings.map(({ fault, change, story }) =>
        [fault, ...story, change].join('\n'),
      );
      const { [only]: explored, notTested } = report;
      if (stories.length > 0) throw new Error([...stories, tried(explored.tried)].join('\n\n'));
      if (explored.tried === 0 || explored.left > 0) {
        skipRunning(`not tested: ${title} (${notTested.join('; ')})`, context, this);
        return;
      }
      const { annotate, diagnostic } = Object(context) as Record<string, unknown>;
      for (const write of [annotate, diagnostic])
        if (typeof write === 'function') write.call(context, tried(explored.tried));
    };
    test(title, body, timeLimit + AROUND);
  };
  register(
    'orders',
    `${name} credits an order once in every sequence of the round trips of ${deliveries}`,
    (count) => `${count} sequences of ${deliveries} were tried`,
  );
  register(
    'cuts',
    `${name} credits an order once after a cut or a kill at each round trip of a delivery`,
    (count) => `${count} cuts were tried`,
  );
}
