import { submitPayForm } from './pay-form.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Breaks the credit, finds the cause with `explain`, and repairs the credit. */
export async function driveBrokenRelease(
  story: Story,
  shop: ShopClient,
  { emulator, payments, release }: RunningDemo,
): Promise<void> {
  const references: string[] = [];

  await story.step('A new release of the shop breaks the credit', async (tell) => {
    release.isBroken = true;
    for (let order = 1; order <= 3; order += 1) {
      const { payUrl, reference } = await shop.buy();
      references.push(reference);
      const page = await shop.page(await submitPayForm(payUrl));
      mustHold(page.includes('We are checking your payment'), 'the page does not say so');
      await emulator.waitForDelivery({ reference, status: 503 });
    }
    tell('The release counts in cents, and XOF has none: its UPDATE changes no row.');
    tell('Three customers paid. Paylink read each order again: unpaid. So it answered 503.');
    tell('Their pages say “We are checking your payment”.');
  });

  await story.step('`explain` finds the cause', async (tell) => {
    const [reference = ''] = references;
    const { order, payment, outcome, reason } = await payments.explain(reference);
    mustHold(outcome === 'credited', `explain says ${outcome}: ${reason}`);
    tell(`The order:    ${JSON.stringify(order?.amount)} ${order?.currency ?? ''}, unpaid.`);
    tell(`The service:  ${payment?.amount ?? ''} ${payment?.currency ?? ''}, paid.`);
    tell('Both agree, so only `credit` is left: its UPDATE does not match the order.');
  });

  await story.step('The shop repairs the release, and the schedule credits', async (tell) => {
    release.isBroken = false;
    await payments.reconcile();
    const orders = await Promise.all(references.map((reference) => shop.order(reference)));
    mustHold(
      orders.every(({ credits }) => credits.count === 1),
      'an order is not credited once',
    );
    tell('The three orders are credited, once each. Nobody had kept a list of them:');
    tell('the unpaid orders and the service know everything that is needed.');
  });
}
