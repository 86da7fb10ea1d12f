/** The options of `testOrders`. */
import type { Orders } from '@paylink/payments';
import { checkOptions } from '../check-options.js';
import type { NewOrder } from './shop.js';

/** A runner may pass a context whose `skip(note)` marks the running test as skipped. */
type Run = (...context: unknown[]) => Promise<void>;

/** The runner's function: `test` of vitest, jest or node:test, or `it` of mocha. */
export type RunTest = ((title: string, run: Run) => unknown) & {
  readonly skip?: ((title: string, run: Run) => unknown) | undefined;
};

export interface TestOrdersOptions {
  /** The merchant's `orders`, as `createPayments` gets them, on the test database. */
  readonly orders: Orders;
  readonly test: RunTest;
  /** Stores an unpaid order. `tenant` is `null` without `tenants`. */
  readonly createOrder: (order: NewOrder) => unknown;
  /** Two merchants whose orders must stay apart. */
  readonly tenants?: readonly [string, string] | undefined;
  /** `find` on a connection that neither `find` nor `credit` uses. */
  readonly elsewhere?: Orders['find'] | undefined;
  /** Counts further writes that `credit` made for the order, such as rows of a wallet. */
  readonly effects?: ((reference: string) => Promise<number> | number) | undefined;
  /**
   * Later changes of a paid order, such as `ship` and `refund`. `edit`, `expire` and `cancel` also
   * run on an unpaid order, which must stay unpaid.
   */
  readonly later?: Readonly<Record<string, (reference: string) => unknown>> | undefined;
}

const OPTIONS = ['orders', 'test', 'createOrder', 'tenants', 'elsewhere', 'effects', 'later'];

/** @throws TypeError for a wrong option */
export function validateOptions(options: TestOrdersOptions): TestOrdersOptions {
  checkOptions(options, OPTIONS);
  const { orders, test, createOrder } = options;
  if (typeof test !== 'function')
    throw new TypeError('test must be the function `test` of your test runner');
  if (typeof createOrder !== 'function') throw new TypeError('createOrder must be a function');
  for (const name of ['find', 'credit'] as const)
    if (typeof orders?.[name] !== 'function')
      throw new TypeError(`orders.${name} must be a function`);
  return options;
}
