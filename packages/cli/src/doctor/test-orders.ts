/** Runs `testOrders` on the orders of the merchant's module. */
import { tenantsOf, withShop, type ShopFlags } from '../shop/with-shop.js';
import { EXIT, messageOf, usageFailure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { Check } from './examine.js';

/** Calls `show` with the checks, and returns its exit code. */
export async function checkOrders(
  flags: ShopFlags,
  output: Output,
  show: (checks: readonly Check[]) => Promise<number>,
): Promise<number> {
  const [first, second, ...more] = tenantsOf(flags);
  if (typeof first !== typeof second || more.length > 0)
    throw usageFailure('--tenant: name two merchants, whose orders must stay separate');
  return withShop(flags, output, async ({ orders, createOrder }, stop) => {
    if (orders === undefined || createOrder === undefined)
      throw usageFailure(
        `--module: ${flags.module} does not export ${orders === undefined ? 'orders' : 'createOrder'}`,
        'export your orders, and a function that inserts { reference, amount, currency, tenant }',
      );
    const checks: Check[] = [];
    const add = (ok: boolean | undefined, message: string): void =>
      void checks.push({ name: 'orders', ok, message });
    type Body = (context: { readonly skip: (note: string) => void }) => Promise<void>;
    const queue: (readonly [title: string, body: Body])[] = [];
    const test = Object.assign((title: string, body: Body) => void queue.push([title, body]), {
      skip: (title: string) => add(undefined, title),
    });
    const tenants: [string, string] | undefined =
      typeof first === 'string' && typeof second === 'string' ? [first, second] : undefined;
    const { testOrders } = await import('@paylink/testing');
    testOrders({ orders, createOrder, test, ...(tenants === undefined ? {} : { tenants }) });
    for (const [title, body] of queue) {
      if (stop.aborted) return EXIT.interrupted;
      output.progress(title);
      let untested: string | undefined;
      const skip = (note: string): void => void (untested = note);
      await body({ skip }).then(
        () => (untested === undefined ? add(true, title) : add(undefined, untested)),
        (error: unknown) => add(false, `${title}. ${messageOf(error)}`),
      );
    }
    return show(checks);
  });
}
