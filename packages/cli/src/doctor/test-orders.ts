/** Runs `testOrders` on the orders of the merchant's module. */
import { testOrders } from '@paylink/testing';
import { INTERRUPTED, messageOf, usageFailure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { agreesTo } from '../terminal/question.js';
import { tenantsOf, withModule, type ShopFlags } from '../shop/with-shop.js';
import type { Check } from './examine.js';

export interface TestOrdersFlags extends ShopFlags {
  readonly yes?: boolean;
}

const QUESTION =
  'This writes about a hundred orders into the database of your module, and pays most of them. ' +
  'Is it a database for tests?';

/** Calls `show` with the checks, and returns its exit code. */
export async function checkOrders(
  flags: TestOrdersFlags,
  output: Output,
  show: (checks: readonly Check[]) => number,
): Promise<number> {
  const tenants = tenantsOf(flags).filter((tenant) => tenant !== undefined);
  if (tenants.length !== 0 && tenants.length !== 2)
    throw usageFailure('--tenant: name two merchants, whose orders must stay apart');
  if (flags.yes !== true && !(process.stdin.isTTY && (await agreesTo(QUESTION)))) {
    throw usageFailure(
      'nothing was tested: --module writes about a hundred orders into the database of your module',
      'if that is a database for tests, add --yes',
    );
  }
  return withModule(flags, output, INTERRUPTED, async ({ orders, createOrder }, stop) => {
    if (orders === undefined || createOrder === undefined) {
      throw usageFailure(
        `--module: ${flags.module!} does not export orders and createOrder`,
        'export your orders, and a function that inserts { reference, amount, currency, tenant }',
      );
    }
    const checks: Check[] = [];
    const queue: { readonly title: string; readonly run: () => Promise<void> }[] = [];
    const test = Object.assign(
      (title: string, run: () => Promise<void>) => void queue.push({ title, run }),
      {
        skip: (title: string) =>
          void checks.push({ name: 'orders', ok: undefined, message: title }),
      },
    );
    const [first, second] = tenants;
    testOrders({
      orders,
      createOrder,
      test,
      ...(first !== undefined && second !== undefined ? { tenants: [first, second] } : {}),
    });
    for (const { title, run } of queue) {
      if (stop.aborted) return INTERRUPTED;
      output.progress(title);
      checks.push(await run().then(passed(title), failed(title)));
    }
    return show(checks);
  });
}

const passed = (title: string) => (): Check => ({ name: 'orders', ok: true, message: title });
const failed =
  (title: string) =>
  (error: unknown): Check => ({
    name: 'orders',
    ok: false,
    message: `${title}. ${messageOf(error)}`,
  });
