import type { KeptDelivery } from '@paylink/payments';
import { replayInbox } from '../replay-inbox.js';
import { submitPayForm } from './pay-form.js';
import type { RunningDemo } from './running-demo.js';
import type { ShopClient } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Breaks the credit of three orders, repairs it, and replays the failed deliveries. */
export async function driveInbox(
  story: Story,
  shop: ShopClient,
  { emulator, db, inbox }: RunningDemo,
): Promise<void> {
  const references: string[] = [];
  const setCurrency = (currency: string) =>
    db.query('UPDATE orders SET currency = $2 WHERE reference = ANY ($1)', [references, currency]);

  await story.step('A faulty release breaks the credit of three orders', async (tell) => {
    for (let order = 1; order <= 3; order += 1) {
      const { payUrl, reference } = await shop.buy();
      references.push(reference);
      await setCurrency('EUR');
      await submitPayForm(payUrl);
    }
    const failed = await waitForInbox(inbox, 3);
    mustHold(
      failed.every(({ code }) => code === 'amount_differs'),
      'the inbox has a delivery with another code',
    );
    tell('The release wrote EUR into the orders. The customers paid in XOF: nothing is credited.');
    tell(`The inbox of the shop has 3 failed deliveries, amount_differs each.`);
  });

  await story.step('The shop repairs the orders, and replays the inbox', async (tell) => {
    await setCurrency('XOF');
    const { url: shopUrl } = shop;
    const webhook = { url: `${shopUrl}/webhooks/payments`, secret: emulator.webhookSecret };
    const statuses = await replayInbox(inbox, webhook);
    mustHold(
      statuses.every((status) => status === 200),
      `the shop answered ${statuses.join(', ')}`,
    );
    const orders = await Promise.all(references.map((reference) => shop.order(reference)));
    mustHold(
      orders.every(({ credits }) => credits.count === 1),
      'an order is not credited once',
    );
    mustHold((await inbox.list()).length === 0, 'the inbox is not empty');
    tell('The demo signed the kept bytes and sent them to the webhook again, like every delivery.');
    tell('The inbox is empty, and each order is credited once.');
  });
}

/** Waits until the inbox has `count` deliveries, because replies do not wait for the inbox. */
export async function waitForInbox(
  inbox: RunningDemo['inbox'],
  count: number,
): Promise<readonly KeptDelivery[]> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const failed = await inbox.list();
    if (failed.length === count) return failed;
    mustHold(Date.now() < deadline, `the inbox has ${failed.length} deliveries after 15 seconds`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
