import { waitForInbox } from './inbox.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Shows a fault beyond the signature: somebody changed the event's name on the way. */
export async function driveRelabelled(
  story: Story,
  shop: ShopClient,
  { emulator, inbox }: RunningDemo,
  unpaid: string,
): Promise<void> {
  const title = 'A genuine notification of another kind, named “payment.succeeded” on its way';
  await story.step(title, async (tell) => {
    const { delivery } = await emulator.sendFault(unpaid, 'relabelled');
    const status = delivery.attempts.at(-1)?.response?.status;
    const { isPaid, credits } = await shop.order(unpaid);
    mustHold(status !== undefined && status >= 400, `the shop answered ${String(status)}`);
    await waitForInbox(inbox, 1);
    mustHold(!isPaid && credits.count === 0, 'the order was credited');
    tell('Its signature is right, since that covers the text and not the name.');
    tell('So the shop asked the service, which says: pending.');
    tell(`Not acknowledged (${status}). The order is still unpaid, and nothing was credited.`);
  });
}
