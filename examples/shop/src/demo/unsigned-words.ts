import { formatAmount } from '../pages.js';
import { submitPayForm } from './pay-form.js';
import { RECONCILE_INTERVAL, type RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** What no signature helps against: an event's name that was changed on the way, and a notification that never comes. */
export async function driveUnsignedWords(
  story: Story,
  shop: ShopClient,
  { emulator, foundByAsking }: RunningDemo,
  unpaid: string,
): Promise<void> {
  await story.step('A genuine notification of another kind, named “payment.succeeded” on its way', async (tell) => {
    const { delivery } = await emulator.sendFault(unpaid, 'relabelled');
    const status = delivery.attempts.at(-1)?.response?.status;
    const { isPaid, credits } = await shop.order(unpaid);
    mustHold(status !== undefined && status >= 400, `the shop answered ${String(status)}`);
    mustHold(!isPaid && credits.count === 0, 'the order was credited');
    tell(
      `Its signature is right, since that covers the text and not the name. So the shop asked the service, which says: pending.`,
    );
    tell(`Not acknowledged (${status}). The order is still unpaid, and nothing was credited.`);
  });

  await story.step('A customer pays, and the notification gets lost', async (tell) => {
    const { payUrl, reference } = await shop.buy();
    const restore = emulator.disturb({ kind: 'drop', reference });
    await submitPayForm(payUrl);
    const paidAt = Date.now();
    const { amount, credits } = await shop.waitUntilPaid(reference);
    const seconds = ((Date.now() - paidAt) / 1_000).toFixed(1);
    restore();
    mustHold(credits.count === 1 && credits.total === amount, `the order was credited ${credits.count} times`);
    const lost = emulator.deliveries().find((delivery) => delivery.reference === reference);
    mustHold(lost?.state === 'dropped' && lost.attemptCount === 0, 'the notification was sent after all');
    mustHold(foundByAsking.has(reference), 'the shop did not find the payment by asking');
    tell(
      `Nothing was sent to the shop. But every ${RECONCILE_INTERVAL / 1_000} seconds it asks about its unpaid orders, and so it found out.`,
    );
    tell(`Credited: ${formatAmount(credits.total)}, once, ${seconds} seconds after the payment.`);

    const late = await emulator.redeliver(lost.id);
    const after = await shop.order(reference);
    mustHold(late.response?.status === 200, `the shop answered the late notification with ${String(late.response?.status)}`);
    mustHold(after.credits.count === 1, `the order was credited ${after.credits.count} times`);
    tell('The lost notification came after all, a moment later: acknowledged, and still one credit.');
  });
}
