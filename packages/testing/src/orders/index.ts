/** The suite that a merchant runs on `orders` and the database behind it. */
import { checkBystanders } from './bystanders.js';
import type { OrdersCheck } from './check.js';
import { checkCredit } from './credit.js';
import { checkFind } from './find.js';
import { checkInjection } from './injection.js';
import { checkLists } from './lists.js';
import { checkEffects, checkElsewhere, checkLater, checkTenants } from './means.js';
import { validateOptions, type TestOrdersOptions } from './options.js';
import { openShop } from './shop.js';

const TWO_PROCESSES: OrdersCheck = {
  title: 'two processes credit an order once',
  untested:
    'one process cannot see it: the condition of the write must decide, never a lock in memory',
  run: () => Promise.resolve(),
};

/**
 * Registers the tests that `orders` must pass on a real database, so that an order is credited once
 * and only for its own payment. A failed test says the fault in one sentence. A check without its
 * option is skipped as "not tested". Creates about a hundred orders, and pays most of them.
 *
 * @throws TypeError for a wrong option
 */
export function testOrders(options: TestOrdersOptions): void {
  const { orders, test, tenants, elsewhere, effects, later } = validateOptions(options);
  const shop = openShop(options);
  const checks = [
    ...checkFind(shop),
    ...checkCredit(shop),
    ...checkBystanders(shop),
    ...checkInjection(shop),
    ...checkLists(shop, orders, tenants),
    ...checkTenants(shop, tenants),
    ...checkElsewhere(shop, elsewhere),
    ...checkEffects(shop, effects),
    ...checkLater(shop, later),
    TWO_PROCESSES,
  ];
  for (const { title, run, untested: reason } of checks) {
    if (reason === undefined) {
      test(title, run);
      continue;
    }
    const untested = `not tested: ${title} (${reason})`;
    if (typeof test.skip === 'function') test.skip(untested, run);
    else console.warn(untested);
  }
}
