/** The suite that a merchant runs on `orders` and the database behind it. */
import { BYSTANDERS } from './bystanders.js';
import { CREDIT } from './credit.js';
import { FIND } from './find.js';
import { INJECTION } from './injection.js';
import { laterChecks } from './later.js';
import { PAID, UNPAID } from './lists.js';
import { EFFECTS, ELSEWHERE, TOTAL } from './means.js';
import { validateOptions, type TestOrdersOptions } from './options.js';
import { NotTested, Shop, type Checks } from './shop.js';
import { SPELLINGS } from './spellings.js';
import { OTHER_TENANT, TENANTS } from './tenants.js';

/** Milliseconds, because runners by default end a test after a few seconds without a reason. */
const LONGEST_CHECK = 60_000;

/**
 * Registers the tests that `orders` must pass on a real database, so that an order is credited once
 * and only for its own payment. A failed test explains the problem. If an option is missing, its
 * checks are skipped as "not tested". Stores about 250 orders and pays about 70 of them.
 *
 * @throws TypeError for an invalid option
 */
export function testOrders(options: TestOrdersOptions): void {
  const { orders, test, tenants, elsewhere, effects, later, total } = validateOptions(options);
  const shop = new Shop(options);
  const skip = (title: string, reason: string): void => {
    const untested = untestedTitle(title, reason);
    // A check that cannot run must not count as passed.
    if (typeof test.skip === 'function') test.skip(untested, () => Promise.resolve());
    else console.warn(untested);
  };
  const add = (checks: Checks): void => {
    for (const [title, check] of Object.entries(checks))
      test(title, runOf(title, check, shop), LONGEST_CHECK);
  };
  const addIf = (isGiven: boolean, name: string, checks: Checks): void => {
    if (isGiven) add(checks);
    else for (const title of Object.keys(checks)) skip(title, `needs ${name}`);
  };
  for (const checks of [FIND, CREDIT, BYSTANDERS, SPELLINGS, INJECTION]) add(checks);
  addIf(orders.unpaid !== undefined, 'orders.unpaid', UNPAID);
  addIf(orders.paid !== undefined, 'orders.paid', PAID);
  addIf(tenants !== undefined, 'the option tenants', OTHER_TENANT);
  if (tenants !== undefined) add(TENANTS);
  addIf(elsewhere !== undefined, 'the option elsewhere', ELSEWHERE);
  addIf(effects !== undefined, 'the option effects', EFFECTS);
  skip(
    'further writes are in the transaction of the credit',
    effects === undefined
      ? 'needs the option effects'
      : 'no call from outside can end a credit halfway: read its code',
  );
  addIf(total !== undefined, 'the option total', TOTAL);
  const changes = Object.entries(later ?? {});
  for (const [name, change] of changes) add(laterChecks(name, change));
  if (changes.length === 0) {
    skip('a paid order stays paid after later changes', 'needs the option later');
    skip(
      'an order that is closed stays unpaid',
      'needs the option later, with a change that closes an order',
    );
  }
  skip(
    'two processes credit an order once',
    'one process cannot see it: the condition of the write must decide, never a lock in memory',
  );
}

function untestedTitle(title: string, reason: string): string {
  return `not tested: ${title} (${reason})`;
}

/** Returns a check that the runner reports as skipped if this database cannot show the fault. */
function runOf(title: string, check: Checks[string], shop: Shop): () => Promise<void> {
  return async function (this: unknown) {
    try {
      await check(shop);
    } catch (error) {
      if (!(error instanceof NotTested)) throw error;
      // oxlint-disable-next-line prefer-rest-params -- a parameter is a callback to jest and mocha
      skipRunning(untestedTitle(title, error.message), arguments[0], this);
    }
  };
}

/**
 * Reports a running check as skipped if this database cannot show its fault. vitest and node:test
 * pass a context whose `skip` takes a note. mocha's `this` can skip.
 */
export function skipRunning(untested: string, context: unknown, self: unknown): void {
  // The fault cannot show on this database, and a return would count as passed.
  if (canSkip(context)) return void context.skip(untested);
  console.warn(untested);
  // A return would count as passed in mocha too, which takes no note.
  if (canSkip(self)) self.skip();
}

function canSkip(context: unknown): context is { skip(note?: string): unknown } {
  return typeof (context as { skip?: unknown } | undefined)?.skip === 'function';
}
