import { formatAmount } from '../pages.js';
import { submitPayForm } from './pay-form.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Lets a payment fail, pays the order by a second link, and then pays the first link too. */
export async function driveSecondTry(
  story: Story,
  shop: ShopClient,
  { emulator, payments }: RunningDemo,
): Promise<void> {
  const first = await shop.buy();

  await story.step('A payment fails, and the customer tries again', async (tell) => {
    await emulator.fail(first.reference);
    const page = await shop.page(`${shop.url}/orders/${first.reference}?from=payment`);
    mustHold(page.includes('The payment failed'), 'the page does not say that the payment failed');
    tell('The page of the order says so, and offers one button: “Try again”.');
    const second = await shop.tryAgain(first.reference);
    await submitPayForm(second.payUrl);
    await emulator.waitForDelivery({ reference: second.reference, status: 200 });
    const { credits } = await shop.order(first.reference);
    mustHold(credits.count === 1, `the order is credited ${credits.count} times`);
    tell('The same order got a second link, with a reference of its own: a row for each link.');
    tell(`The customer paid that link. Credited: ${formatAmount(credits.total)}, once.`);
  });

  await story.step('The customer pays the first link too', async (tell) => {
    await submitPayForm(first.payUrl);
    await emulator.waitForDelivery({ reference: first.reference, status: 409 });
    const { undecided } = await payments.reconcile([first.reference]);
    mustHold(undecided.count === 1, 'the second payment is not among the undecided ones');
    const { credits } = await shop.order(first.reference);
    mustHold(credits.count === 1, `the order is credited ${credits.count} times`);
    tell('The webhook answered 409 (order_closed), and the order has still one credit.');
    tell('`reconcile` lists the payment as undecided: a person pays it back.');
  });
}
