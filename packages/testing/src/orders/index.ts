/** The suite that a merchant runs on `orders` and the database behind it. */
import { checkBystanders } from './bystanders.js';
import { checkCredit } from './credit.js';
import { checkFind } from './find.js';
import { checkEffects, checkElsewhere, checkLater, checkTenants } from './means.js';
import { validateOptions, type TestOrdersOptions } from './options.js';
import { openShop } from './shop.js';

/**
 * Registers the tests that `orders` must pass on a real database, so that an order is credited once
 * and only for its own payment. A failed test says the fault in one sentence. A check without its
 * option is skipped as "not tested". Creates about a hundred orders, and pays most of them.
 *
 * @throws TypeError for a wrong option
 */
export function testOrders(options: TestOrdersOptions): void {
  const { test, tenants, elsewhere, effects, later } = validateOptions(options);
  const shop = openShop(options);
  const checks = [
    ...checkFind(shop),
    ...checkCredit(shop),
    ...checkBystanders(shop),
    ...checkTenants(shop, tenants),
    ...checkElsewhere(shop, elsewhere),
    ...checkEffects(shop, effects),
    ...checkLater(shop, later),
  ];
  for (const { title, run, missing } of checks) {
    if (missing === undefined) {
      test(title, run);
      continue;
    }
    const untested = `not tested: ${title} (needs the option ${missing})`;
    if (typeof test.skip === 'function') test.skip(untested, run);
    else console.warn(untested);
  }
}
