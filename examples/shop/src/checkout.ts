import type { PaylinkClient } from '@paylink/client';
import type { ShopOrder, ShopOrders } from './orders.js';
import { linksOf } from './order-state.js';

/** Milliseconds that a customer waits for the payment page. */
const TIMEOUT = 5_000;

/** Returns the address of the order's page, by the order's newest attempt. */
const pathOf = ({ attempts: [{ reference }] }: ShopOrder): string => `/orders/${reference}`;

/** Leads customers to the payment page. */
export class Checkout {
  readonly #orders: ShopOrders;
  readonly #paylink: PaylinkClient;
  readonly #shopUrl: string;

  constructor(orders: ShopOrders, paylink: PaylinkClient, shopUrl: string) {
    this.#orders = orders;
    this.#paylink = paylink;
    this.#shopUrl = shopUrl;
  }

  /**
   * Returns the payment page of the order's newest attempt, or the order's page if the order is
   * paid or the link cannot be created.
   */
  async open(order: ShopOrder): Promise<string> {
    const [{ reference, payUrl }] = order.attempts;
    if (order.isPaid) return pathOf(order);
    if (payUrl !== null) return payUrl;
    const orderUrl = new URL(pathOf(order), this.#shopUrl).href;
    try {
      const { url } = await this.#paylink.createPaymentLink(
        {
          amount: order.amount,
          reference,
          description: order.description,
          return_url: `${orderUrl}?from=payment`,
          cancel_url: orderUrl,
          // The notification names the link and not the payment, so each link is paid only once.
          single_use: true,
        },
        // One key per attempt: another try to create its link creates no second link.
        { idempotencyKey: reference, signal: AbortSignal.timeout(TIMEOUT) },
      );
      this.#orders.setPayUrl(reference, url);
      return url;
    } catch (error) {
      console.error(`[shop] no payment link for ${reference}:`, error);
      return pathOf(order);
    }
  }

  /**
   * Gives the order a new link if no earlier link can have been paid, and returns its payment page.
   * Otherwise returns the order's page, which shows the one thing to do.
   */
  async tryAgain(order: ShopOrder): Promise<string> {
    const [newest] = order.attempts;
    if (order.isPaid || !(await this.#haveEnded(order))) return pathOf(order);
    // A new attempt, unless the newest one still waits for its link.
    if (newest.payUrl !== null) this.#orders.tryAgain(order);
    return this.open(this.#orders.find(newest.reference)!);
  }

  /** Asks the service itself: the pages reuse its answers, and one may be older than a payment. */
  async #haveEnded(order: ShopOrder): Promise<boolean> {
    const signal = AbortSignal.timeout(TIMEOUT);
    try {
      const payments = await Promise.all(
        linksOf(order).map(({ reference }) => this.#paylink.getPayment(reference, { signal })),
      );
      return payments.every(({ status }) => status === 'failed' || status === 'cancelled');
    } catch (error) {
      console.error(`[shop] no answer about the order ${order.id}:`, error);
      return false;
    }
  }
}
