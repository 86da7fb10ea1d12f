import type { Handled } from '@paylink/core';
import type { ServicePayment } from './ask.js';
import { receive } from './receive.js';
import { reconcile, type ReconcileOptions } from './reconcile/reconcile.js';
import type { References } from './reconcile/references.js';
import type { ReconcileReport } from './reconcile/report.js';
import { validateSettings, type AnyEvent, type PaymentsOptions } from './settings.js';
import { createSettle, type Settled } from './settle.js';

/** Three ways to one credit. All three share the client, the store, the key and `credit`. */
export interface Payments {
  /** The kinds of `handlers`. `paymentWebhook` accepts their events without the option `events`. */
  readonly kinds: readonly string[];
  /**
   * Credits the order of a verified event. Pass the payments to `paymentWebhook` as its handlers,
   * or call `receive` in a queue worker or behind a gate.
   *
   * @throws the error of `credit`, or WebhookError with the code of the reply
   */
  receive(
    event: AnyEvent,
    context?: {
      /** Ends the run. Without a signal, the option `timeout` of the payments ends it. */
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<Handled>;
  /**
   * Asks the service for the payment of an order, and credits the order if the payment succeeded.
   * Call it on the return page. Simultaneous calls share one request, and later calls reuse its
   * answer for 2 s.
   *
   * `success` with `credited: false` means that another call credited the order, or credits it now.
   *
   * @throws the error of `credit`, or WebhookError: `confirm_unavailable` with the client's error
   *   as its cause, `not_credited`, `store_unavailable`, `handler_timeout`
   */
  settle(
    reference: string,
    options?: {
      /** The merchant whose order this is. Omit it, or pass false, with one merchant. */
      readonly tenant?: string | false | undefined;
      /** Ends this call. A request that other calls share continues. */
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<Settled>;
  /**
   * Asks the service for each unpaid order, and credits the paid ones. A failing order does not
   * stop the others. If the service returns 429, all orders wait. If the service rejects the key
   * with 401, the run ends.
   *
   * @throws ConfigurationError, the reason of the signal, or the error of `references`
   */
  reconcile(references: References, options?: ReconcileOptions): Promise<ReconcileReport>;
}

/**
 * Configures the credit of orders, in one place for notifications, return page and schedule.
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
