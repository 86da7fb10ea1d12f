import type { EmulatorDelivery } from '@paylink/emulator';
import { formatAmount } from '../pages.js';
import { submitPayForm } from './pay-form.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Shows the two credits without a notification: the return page and the schedule. */
export async function driveOtherWays(
  story: Story,
  shop: ShopClient,
  { emulator, startSchedule }: RunningDemo,
): Promise<void> {
  await story.step('A customer pays, and comes back before the notification', async (tell) => {
    const { payUrl, reference } = await shop.buy();
    const release = emulator.disturb({ kind: 'delay', reference, delay: 3_600_000 });
    const backAt = await submitPayForm(payUrl);
    const started = performance.now();
    const page = await shop.page(backAt);
    const milliseconds = Math.round(performance.now() - started);
    release();
    const held = await shop.order(reference);
    mustHold(page.includes('<p class="state paid">Paid</p>'), 'the page does not say “Paid”');
    mustHold(held.credits.by === 'settle', `the order is credited by ${String(held.credits.by)}`);
    tell('The service holds the notification back: the shop has heard nothing.');
    tell(`The page that the customer comes back to asks the service, and credits at once.`);
    tell(`It says “Paid” after ${milliseconds} ms. Credited: ${formatAmount(held.credits.total)}.`);
    await expectDuplicate(reference, tell);
  });

  await story.step(
    'A customer pays and never comes back. The notification is lost',
    async (tell) => {
      const { payUrl, reference } = await shop.buy();
      const restore = emulator.disturb({ kind: 'drop', reference });
      await submitPayForm(payUrl);
      restore();
      const { state, attemptCount } = deliveryOf(reference);
      mustHold(state === 'dropped' && attemptCount === 0, 'the notification was sent after all');
      mustHold(!(await shop.order(reference)).isPaid, 'the order was credited without a reason');
      tell('Nothing reached the shop: the order is unpaid, and the customer has paid.');
      startSchedule();
      const { credits } = await shop.waitUntilPaid(reference);
      mustHold(credits.by === 'reconcile', `the order is credited by ${String(credits.by)}`);
      tell(
        'The schedule of the shop runs: it asks the service about each unpaid order, and credits.',
      );
      tell(`Credited: ${formatAmount(credits.total)}. From now on the schedule runs every minute.`);
      await expectDuplicate(reference, tell);
    },
  );

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
    tell('The notification comes after all: acknowledged as a duplicate, and still one credit.');
  }

  function deliveryOf(reference: string): EmulatorDelivery {
    const delivery = emulator.deliveries().find((entry) => entry.reference === reference);
    mustHold(delivery !== undefined, 'the service has no notification on record');
    return delivery;
  }
}
