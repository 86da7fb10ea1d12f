import { sign } from '@paylink/core';
import { formatAmount } from '../pages.js';
import type { Purchase } from './purchase.js';
import type { ShopClient, WireNotification } from './shop-client.js';
import { mustHold, type Story } from './story.js';

/** Sends forgeries and duplicates. Returns an unpaid order with its pay page. */
export async function driveFrauds(
  story: Story,
  shop: ShopClient,
  genuine: Purchase,
): Promise<{ payUrl: string; reference: string }> {
  const unpaid = await story.step('A thief orders, and does not want to pay', async (tell) => {
    const bought = await shop.buy();
    mustHold(!(await shop.order(bought.reference)).isPaid, 'the new order was paid already');
    tell(`The shop wrote down ${bought.reference}, not paid.`);
    tell('The thief now says “it is paid” to the shop himself:');
    return bought;
  });
  const claim = JSON.stringify({ reference: unpaid.reference });
  const event = { 'Content-Type': 'application/json', 'X-Service-Event': 'payment.succeeded' };

  await story.step('… without a signature', async (tell) => {
    await expectRefusal(shop, { headers: event, body: claim }, unpaid.reference, tell);
  });

  await story.step("… with a signature made with a secret of the thief's own", async (tell) => {
    const signature = await sign(claim, 'a secret that the thief made up');
    await expectRefusal(
      shop,
      { headers: { ...event, 'X-Service-Signature': signature }, body: claim },
      unpaid.reference,
      tell,
    );
  });

  await story.step(
    "… with the genuine signature of the paid order, and the thief's order in the text",
    async (tell) => {
      await expectRefusal(
        shop,
        { headers: genuine.notification.headers, body: claim },
        unpaid.reference,
        tell,
      );
    },
  );

  await story.step(
    'The genuine notification, with nothing changed but its spaces',
    async (tell) => {
      const body = JSON.stringify(JSON.parse(genuine.notification.body), null, 2);
      mustHold(body !== genuine.notification.body, 'the spaces were not changed');
      const status = await shop.notify({ headers: genuine.notification.headers, body });
      mustHold(status === 401, `the shop answered ${status} instead of 401`);
      await expectOneCredit(shop, genuine);
      tell('Refused (401): a signature fits one message to the letter, and to the space.');
    },
  );

  await story.step('The genuine notification again, ten times at once', async (tell) => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => shop.notify(genuine.notification)),
    );
    const accepted = statuses.filter((status) => status === 200).length;
    mustHold(accepted === 10, `the shop answered ${statuses.join(', ')}`);
    await expectOneCredit(shop, genuine);
    tell('All ten were acknowledged (200), since the message is true: the order is paid.');
    tell(`Credited is still ${formatAmount(genuine.amount)}, once.`);
  });
  return unpaid;
}

async function expectRefusal(
  shop: ShopClient,
  notification: WireNotification,
  reference: string,
  tell: (fact: string) => void,
): Promise<void> {
  const status = await shop.notify(notification);
  mustHold(status === 401, `the shop answered ${status} instead of 401`);
  const { isPaid, credits } = await shop.order(reference);
  mustHold(!isPaid && credits.count === 0, 'the order was credited');
  tell('Refused (401). The order is still unpaid, and nothing was credited.');
}

async function expectOneCredit(shop: ShopClient, { reference, amount }: Purchase): Promise<void> {
  const { credits } = await shop.order(reference);
  mustHold(
    credits.count === 1 && credits.total === amount,
    `the order is credited ${credits.count} times, ${formatAmount(credits.total)}`,
  );
}
