/** The options of `testOrders`. */
import type { Orders } from '@paylink/payments';
import { checkOptions } from '../check-options.js';
import type { NewOrder } from './order.js';

/** A runner may pass a context whose `skip(note)` marks the running test as skipped. */
export type TestBody = (...context: unknown[]) => Promise<void>;

/** The runner's function: `test` from vitest, jest or node:test, or `it` from mocha. */
export type RunTest = ((title: string, body: TestBody, timeout?: number) => unknown) & {
  readonly skip?: ((title: string, body: TestBody) => unknown) | undefined;
};

/** The options of `testOrders`. */
export interface TestOrdersOptions {
  /** The merchant's `orders`, as `createPayments` receives them, on the test database. */
  readonly orders: Orders;
  /** `test` from vitest, jest or node:test, or `it` from mocha. */
  readonly test: RunTest;
  /** Stores an unpaid order. `tenant` is `null` unless you set `tenants`. */
  readonly createOrder: (order: NewOrder) => unknown;
  /** Creates a new reference in the shop's format. Default: a UUID, digits or an ObjectId. */
  readonly reference?: (() => string) | undefined;
  /** Two merchants whose orders must stay apart. */
  readonly tenants?: readonly [string, string] | undefined;
  /** `find` on a connection that neither `find` nor `credit` uses. */
  readonly elsewhere?: Orders['find'] | undefined;
  /** Counts other writes that `credit` made for the order, such as rows in a wallet. */
  readonly effects?: ((reference: string) => Promise<number> | number) | undefined;
  /**
   * Later changes to an order, such as `ship`, `refund`, `edit`, `cancel` or `'another link'`. Each
   * runs on a paid order, which must stay paid, and on an unpaid one, which must be closed or still
   * be payable. `'another link'` can return the new link's reference.
   */
  readonly later?: Readonly<Record<string, (reference: string) => unknown>> | undefined;
  /**
   * Reads a number that each credit changes, such as a wallet's balance. Every order that
   * `createOrder` stores must belong to the wallet's customer.
   */
  readonly total?:
    | ((reference: string) => Promise<number | bigint | string> | number | bigint | string)
    | undefined;
}

const FUNCTIONS = ['reference', 'elsewhere', 'effects', 'total'] as const;
const OPTIONS = ['orders', 'test', 'createOrder', 'tenants', 'later', ...FUNCTIONS];

/** @throws TypeError for a wrong option */
export function validateOptions(options: TestOrdersOptions): TestOrdersOptions {
  checkOptions(options, OPTIONS);
  const { orders, test, createOrder, tenants, later = {} } = options;
  if (typeof test !== 'function')
    throw new TypeError('test must be the function `test` of your test runner');
  requireFunction('createOrder', createOrder);
  for (const name of ['find', 'credit'] as const) requireFunction(`orders.${name}`, orders?.[name]);
  for (const name of ['unpaid', 'paid'] as const)
    if (orders[name] !== undefined) requireFunction(`orders.${name}`, orders[name]);
  for (const name of FUNCTIONS)
    if (options[name] !== undefined) requireFunction(name, options[name]);
  for (const [name, change] of Object.entries(later)) requireFunction(`later.${name}`, change);
  const names = new Set<unknown>(tenants);
  if (tenants !== undefined && (tenants.length !== 2 || names.size !== 2 || names.has(undefined)))
    throw new TypeError('tenants must be two different tenants');
  return options;
}

function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}
