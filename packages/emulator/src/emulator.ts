import type { CreatedLink, Payment, PaymentLinkFields } from './contract/payment.js';
import type { DeliveryAttempt, EmulatorDelivery } from './deliveries/delivery.js';
import type { AwaitedDelivery } from './deliveries/waiting.js';
import type { PayChoice } from './payments/actions.js';

/**
 * A running emulator of the Payment Link Service. Its methods throw errors with a `code`. After
 * `close`, all but `deliveries` and `close` throw `emulator_closed`. A wrong argument throws a
 * ConfigurationError that names the argument.
 */
export interface Emulator {
  /** The address of the API. The endpoints are at `{baseUrl}/v1/…`. */
  readonly baseUrl: string;
  /** The address of the hosted pages: `{payUrl}/link/<token>`. */
  readonly payUrl: string;
  readonly dashboardUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /**
   * Creates a payment link by the rules of the API, without an API request.
   *
   * @throws EmulatorError with an API code, such as `invalid_request` or `reference_taken`
   */
  createLink(link: PaymentLinkFields): Promise<CreatedLink>;
  /**
   * Pays as the customer would on the hosted page, and sends the notification.
   *
   * @param choice `amount`: for a free-amount link, default its lower bound. `delivery`: sends the
   *   notification late (`{ delay }`), twice (`{ times: 2 }`), not at all (`{ times: 0 }`) or out
   *   of order (`{ afterNext: true }`)
   * @throws EmulatorError `payment_not_found`, `transition_not_allowed`, `invalid_amount`
   */
  pay(reference: string, choice?: PayChoice): Promise<Payment>;
  /** Makes the payment fail. @throws EmulatorError `payment_not_found`, `transition_not_allowed` */
  fail(reference: string): Promise<Payment>;
  /** Cancels as the customer would. @throws EmulatorError as `fail` */
  cancel(reference: string): Promise<Payment>;
  /** Returns a copy of each kept notification with its attempts, oldest first. */
  deliveries(): EmulatorDelivery[];
  /**
   * Sends any notification again, even an acknowledged or unsent one, and returns the attempt with
   * its answer.
   *
   * @throws EmulatorError `delivery_not_found`, `no_webhook`
   */
  redeliver(id: string): Promise<DeliveryAttempt>;
  /**
   * Waits until your server has acknowledged a notification of this payment, or answered one with
   * `status`. Resolves with the newest such delivery, at once if it exists.
   *
   * @throws EmulatorError `wait_timeout` after `timeout` (default 5,000 ms, the message has the
   *   last answer), `no_webhook`, `emulator_reset`
   */
  waitForDelivery(awaited: AwaitedDelivery): Promise<EmulatorDelivery>;
  /**
   * Forgets every link, payment and notification. Addresses and secrets stay. Resolves when the
   * last running request has ended.
   */
  reset(): Promise<void>;
  /** Stops the server and drops all pending notifications. */
  close(): Promise<void>;
}
