import type { ServicePayment } from './ask.js';
import { receive, type Received } from './receive.js';
import { reconcile, type ReconcileOptions } from './reconcile/reconcile.js';
import type { References } from './reconcile/references.js';
import type { ReconcileReport } from './reconcile/report.js';
import { validateSettings, type AnyEvent, type PaymentsOptions } from './settings.js';
import { createSettle, type Settled } from './settle.js';

/** Three ways to one credit: they share the client, the store, the key and `credit`. */
export interface Payments {
  /** The kinds of `handlers`. `paymentWebhook` takes their events without the option `events`. */
  readonly kinds: readonly string[];
  /**
   * Credits the order of a verified event: give the payments to `paymentWebhook` as its handlers,
   * or call this in a queue worker or behind a gate.
   *
   * @throws the error of `credit`, or WebhookError with the code of the reply
   */
  receive(
    event: AnyEvent,
    context?: {
      /** Ends the run. Without a signal, `timeout` of the payments does. */
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<Received>;
  /**
   * Asks the service how the payment of an order stands, and credits the order if it is paid. For
   * the page that the customer returns to. Calls that come together share one question, and its
   * answer is reused for 2 s.
   *
   * `success` with `credited: false` means that another call credited the order, or credits it now.
   *
   * @throws the error of `credit`, or WebhookError: `confirm_unavailable` with the error of the
   * client as its cause, `not_credited`, `store_unavailable`, `handler_timeout`
   */
  settle(
    reference: string,
    options?: {
      /** The merchant whose order it is. Leave it out, or give false, if there is one. */
      readonly tenant?: string | false | undefined;
      /** Ends this call. A question that other calls share goes on. */
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<Settled>;
  /**
   * Asks the service for each unpaid order, and credits those that are paid. An order that fails
   * does not stop the others. If the service refuses by its rate limit, all orders wait. If it
   * refuses the key with 401, the run ends.
   *
   * @throws ConfigurationError, the reason of the signal, or the error of `references`
   */
  reconcile(references: References, options?: ReconcileOptions): Promise<ReconcileReport>;
}

/**
 * Makes the one place that says how an order is credited.
 *
 * @throws ConfigurationError that names the option
 */
export function createPayments<Tx, Payment extends ServicePayment>(
  options: PaymentsOptions<Tx, Payment>,
): Payments {
  const settings = validateSettings(options);
  return Object.freeze<Payments>({
    kinds: [...settings.handlers.keys()],
    receive: (event, context) => receive(settings, event, context),
    settle: createSettle(settings),
    reconcile: (references, run) => reconcile(settings, references, run),
  });
}
