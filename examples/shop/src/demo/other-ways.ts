import type { EmulatorDelivery } from '@paylink/emulator';
import { formatAmount } from '../pages.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Shows the two credits without a notification: the return page and the schedule. */
export async function driveOtherWays(
  story: Story,
  shop: ShopClient,
  { emulator, startSchedule }: RunningDemo,
): Promise<void> {
  await story.step('A customer is faster than the notification', async (tell) => {
    const { reference } = await shop.buy();
    await emulator.pay(reference, { delivery: { delay: 3_600_000 } });
    const started = performance.now();
    const page = await shop.page(`${shop.url}/orders/${reference}?from=payment`);
    const milliseconds = Math.round(performance.now() - started);
    const { credits } = await shop.order(reference);
    mustHold(page.includes('<p class="state paid">Paid</p>'), 'the page does not say “Paid”');
    mustHold(credits.by === 'settle', `the order is credited by ${String(credits.by)}`);
    tell('The service holds the notification back: the shop has heard nothing.');
    tell('The page that the customer comes back to asks the service, and credits at once.');
    tell(`It says “Paid” after ${milliseconds} ms. Credited: ${formatAmount(credits.total)}.`);
    await expectDuplicate(reference, tell);
  });

  await story.step('A notification is lost, and the customer never comes back', async (tell) => {
    const { reference } = await shop.buy();
    await emulator.pay(reference, { delivery: { times: 0 } });
    mustHold(!(await shop.order(reference)).isPaid, 'the order was credited without a reason');
    tell('Nothing reached the shop: the order is unpaid, and the customer has paid.');
    startSchedule();
    const { credits } = await shop.waitUntilPaid(reference);
    mustHold(credits.by === 'reconcile', `the order is credited by ${String(credits.by)}`);
    tell('The schedule of the shop asks the service about each unpaid order, and credits.');
    tell(`Credited: ${formatAmount(credits.total)}. From now on the schedule runs every minute.`);
    await expectDuplicate(reference, tell);
  });

  /** Sends the missing notification, and checks that it does not credit again. */
  async function expectDuplicate(reference: string, tell: (fact: string) => void): Promise<void> {
    const { response } = await emulator.redeliver(deliveryOf(reference).id);
    const status = String(response?.status);
    const { credits, amount } = await shop.order(reference);
    mustHold(status === '200', `the shop answered the late notification with ${status}`);
    mustHold(
      credits.count === 1 && credits.total === amount,
      `the order is credited ${credits.count} times, ${formatAmount(credits.total)}`,
    );
    tell('The notification comes after all: acknowledged (200), and still one credit.');
  }

  function deliveryOf(reference: string): EmulatorDelivery {
    const delivery = emulator.deliveries().find((entry) => entry.reference === reference);
    mustHold(delivery !== undefined, 'the service has no notification on record');
    return delivery;
  }
}
