import type { PaylinkClient } from '@paylink/client';
import type { Emulator } from '@paylink/emulator';
import { formatAmount } from '../pages.js';
import { submitPayForm } from './pay-form.js';
import type { ShopClient, WireNotification } from './shop-client.js';
import { mustHold, type Story } from './story.js';

export interface Purchase {
  readonly reference: string;
  readonly amount: number;
  /** The genuine notification, as it was sent and received. */
  readonly notification: WireNotification;
}

/** Drives one purchase all the way, from the Buy button to the credit. */
export async function drivePurchase(
  story: Story,
  shop: ShopClient,
  { emulator, paylink }: { readonly emulator: Emulator; readonly paylink: PaylinkClient },
): Promise<Purchase> {
  const { payUrl, reference } = await story.step('A customer presses Buy', async (tell) => {
    const bought = await shop.buy();
    const order = await shop.order(bought.reference);
    mustHold(!order.isPaid && order.credits.count === 0, 'a new order was paid already');
    tell(`The shop wrote down the order ${order.id}: ${formatAmount(order.amount)}, not paid.`);
    tell(`The payment service gave it a page to pay at: ${bought.payUrl}`);
    tell('The shop sent the customer there.');
    return bought;
  });

  await story.step('The customer pays on that page', async (tell) => {
    const backAt = await submitPayForm(payUrl);
    mustHold(
      backAt === `${shop.url}/orders/${reference}?from=payment`,
      `the customer was sent to ${backAt}`,
    );
    const { status } = await paylink.getPayment(reference);
    mustHold(status === 'success', `the service says that the payment is ${status}`);
    tell('The service took the payment: asked by its API, it says success.');
    tell('It sent the customer back to the shop.');
  });

  return story.step('The service tells the shop, in a signed notification', async (tell) => {
    const { amount, credits } = await shop.waitUntilPaid(reference);
    mustHold(
      credits.count === 1 && credits.total === amount,
      `the order was credited ${credits.count} times`,
    );
    mustHold(credits.by === 'webhook', `the order was credited by ${String(credits.by)}`);
    const notification = await captureNotification(emulator, reference);
    tell(`The notification says only: ${notification.body}`);
    tell(
      'Its signature was right, so the shop believed the sender, and asked the service: success.',
    );
    tell(`The amount is the one of the order. Credited: ${formatAmount(credits.total)}, once.`);
    return { reference, amount, notification };
  });
}

/** The notification as the emulator has recorded it, once the shop's answer is recorded too. */
async function captureNotification(
  emulator: Emulator,
  reference: string,
): Promise<WireNotification> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const delivery = emulator.deliveries().find((entry) => entry.reference === reference);
    const accepted = delivery?.attempts.find(({ response }) => response?.status === 200);
    if (accepted !== undefined) return accepted.request;
    mustHold(Date.now() < deadline, 'the service has no answer of the shop on record');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
