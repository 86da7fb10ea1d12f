import type { ShopOrder } from '../orders.js';
import { mustHold } from './story.js';

/** A notification on the wire. */
export interface WireNotification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const TIMEOUT = 10_000;
/** The pay page shows the reference in a separate element. */
const REFERENCE = /<bdi>([0-9a-f-]{36})<\/bdi>/;

export interface Checkout {
  readonly payUrl: string;
  readonly reference: string;
}

/** The demo's view of the shop. Uses only HTTP, so every line comes from the server. */
export class ShopClient {
  constructor(readonly url: string) {}

  /** Presses Buy. Returns the payment page, and the reference of its link. */
  buy(): Promise<Checkout> {
    return this.#press('/orders');
  }

  /** Presses "Try again" on the page of an order, which any of its references names. */
  tryAgain(reference: string): Promise<Checkout> {
    return this.#press(`/orders/${reference}/attempts`);
  }

  async #press(path: string): Promise<Checkout> {
    const response = await fetch(new URL(path, this.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: this.url },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const payUrl = response.headers.get('location');
    mustHold(
      response.status === 303 && payUrl?.includes('/link/') === true,
      `the shop answered ${path} with ${response.status}, not with a redirect to a payment page`,
    );
    const page = await fetch(payUrl, { signal: AbortSignal.timeout(TIMEOUT) });
    const reference = REFERENCE.exec(await page.text())?.[1];
    mustHold(page.status === 200, `the page to pay at answered ${page.status}`);
    mustHold(reference !== undefined, 'the page to pay at names no reference');
    return { payUrl, reference };
  }

  async order(reference: string): Promise<ShopOrder> {
    const url = `${this.url}/api/orders/${reference}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
    mustHold(response.status === 200, `the shop answered ${response.status} for ${reference}`);
    return (await response.json()) as ShopOrder;
  }

  /** Opens a page of the shop in English. */
  async page(url: string): Promise<string> {
    const headers = { 'Accept-Language': 'en' };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT) });
    mustHold(response.status === 200, `the shop answered ${response.status} for its page`);
    return response.text();
  }

  /** Polls until the order is paid. @throws StepFailed after 15 seconds */
  async waitUntilPaid(reference: string): Promise<ShopOrder> {
    const deadline = Date.now() + 15_000;
    for (;;) {
      const order = await this.order(reference);
      if (order.isPaid) return order;
      mustHold(Date.now() < deadline, 'the order was still unpaid after 15 seconds');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Posts a notification to the webhook, genuine or not. Returns the answer's status. */
  async notify({ headers, body }: WireNotification): Promise<number> {
    const response = await fetch(`${this.url}/webhooks/payments`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    await response.arrayBuffer();
    return response.status;
  }
}
