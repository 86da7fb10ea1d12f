import type { CreatedLink, Payment, PaymentLinkFields } from './contract/payment.js';
import type { DeliveryAttempt, EmulatorDelivery } from './deliveries/delivery.js';
import type { AwaitedDelivery } from './deliveries/waiting.js';
import type { PayChoice } from './payments/actions.js';

/**
 * A running emulator of the Payment Link Service. Its methods throw errors with a `code`. After
 * `close`, all methods except `deliveries` and `close` throw `emulator_closed`. An invalid argument
 * throws a ConfigurationError with the argument's name.
 */
export interface Emulator {
  /** The address of the API. The endpoints are at `{baseUrl}/v1/…`. */
  readonly baseUrl: string;
  /** The origin of the payment pages, which are at `{payUrl}/link/<token>`. */
  readonly payUrl: string;
  readonly dashboardUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /**
   * Creates a payment link under the API's rules, without an API request.
   *
   * @throws EmulatorError with an API code, such as `invalid_request` or `reference_taken`
   */
  createLink(link: PaymentLinkFields): Promise<CreatedLink>;
  /**
   * Pays as the customer would on the hosted page, and sends the notification.
   *
   * @param choice `amount`: the amount for a free-amount link, by default its lower bound.
   *   `delivery`: sends the notification late (`{ delay }`), twice (`{ times: 2 }`), never
   *   (`{ times: 0 }`) or out of order (`{ afterNext: true }`)
   * @throws EmulatorError `payment_not_found`, `transition_not_allowed`, `invalid_amount`
   */
  pay(reference: string, choice?: PayChoice): Promise<Payment>;
  /** Makes the payment fail. @throws EmulatorError `payment_not_found`, `transition_not_allowed` */
  fail(reference: string): Promise<Payment>;
  /** Cancels as the customer would. @throws EmulatorError with the same codes as `fail` */
  cancel(reference: string): Promise<Payment>;
  /** Returns a copy of each stored notification with its attempts, oldest first. */
  deliveries(): EmulatorDelivery[];
  /**
   * Resends a notification, even an acknowledged or unsent one. Returns the attempt with your
   * server's reply.
   *
   * @throws EmulatorError `delivery_not_found`, `no_webhook`
   */
  redeliver(id: string): Promise<DeliveryAttempt>;
  /**
   * Waits until your server has acknowledged a notification for this payment, or answered one with
   * `status`. Resolves with the newest such delivery, immediately if one exists.
   *
   * @throws EmulatorError `wait_timeout` after `timeout` (default 5,000 ms, the message shows the
   *   last reply), `no_webhook`, `emulator_reset`
   */
  waitForDelivery(awaited: AwaitedDelivery): Promise<EmulatorDelivery>;
  /**
   * Deletes every link, payment and notification, but keeps addresses and secrets. Resolves when
   * the last delivery in progress has ended.
   */
  reset(): Promise<void>;
  /** Stops the server and drops all pending notifications. */
  close(): Promise<void>;
}
