/** The suite that a merchant runs on `orders` and the database behind it. */
import { checkBystanders } from './bystanders.js';
import { NotTested, untestedCheck, type OrdersCheck } from './check.js';
import { checkCredit } from './credit.js';
import { checkFind } from './find.js';
import { checkInjection } from './injection.js';
import { checkLater } from './later.js';
import { checkLists } from './lists.js';
import { checkEffects, checkElsewhere, checkTotal } from './means.js';
import { validateOptions, type TestOrdersOptions } from './options.js';
import { Shop } from './shop.js';
import { checkSpellings } from './spellings.js';
import { checkTenants } from './tenants.js';

const TWO_PROCESSES = untestedCheck(
  'two processes credit an order once',
  'one process cannot see it: the condition of the write must decide, never a lock in memory',
);

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
  const checks = [
    ...checkFind(shop),
    ...checkCredit(shop),
    ...checkBystanders(shop),
    ...checkSpellings(shop),
    ...checkInjection(shop),
    ...checkLists(shop, orders, tenants),
    ...checkTenants(shop, tenants),
    ...checkElsewhere(shop, elsewhere),
    ...checkEffects(shop, effects),
    ...checkTotal(shop, total),
    ...checkLater(shop, orders, later),
    TWO_PROCESSES,
  ];
  for (const check of checks) {
    if (check.untested === undefined) {
      test(check.title, runOf(check));
      continue;
    }
    const untested = untestedTitle(check, check.untested);
    // The option of this check is missing, so it cannot run, and must not count as passed.
    if (typeof test.skip === 'function') test.skip(untested, check.run);
    else console.warn(untested);
  }
}

function untestedTitle({ title }: OrdersCheck, reason: string): string {
  return `not tested: ${title} (${reason})`;
}

/** Returns a check that the runner reports as skipped if this database cannot show the fault. */
function runOf(check: OrdersCheck): () => Promise<void> {
  return async function (this: unknown) {
    try {
      await check.run();
    } catch (error) {
      if (!(error instanceof NotTested)) throw error;
      // oxlint-disable-next-line prefer-rest-params -- a parameter is a callback to jest and mocha
      skipRunning(untestedTitle(check, error.message), arguments[0], this);
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
  // The same in mocha, which takes no note.
  if (canSkip(self)) self.skip();
}

function canSkip(context: unknown): context is { skip(note?: string): unknown } {
  return typeof (context as { skip?: unknown } | undefined)?.skip === 'function';
}
