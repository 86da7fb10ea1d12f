import { checkSignal, validateOptions } from '@paylink/core/internal';
import { PaylinkError } from './errors.js';
import { faultInPath, parseLink, validateIdempotencyKey, type PaymentLinkRequest } from './link.js';
import { createSettings, type ClientOptions } from './options.js';
import { parsePayment, parsePaymentLink, type Payment, type PaymentLink } from './payment.js';
import type { Call } from './request.js';
import { sendWithRetries } from './retry.js';

/** The service's API. Pass it to createPayments as `client`. */
export interface PaylinkClient {
  /**
   * Creates a payment link. Retries send the same key and the same bytes.
   *
   * @throws PaylinkError, such as `invalid_link` before the request is sent, or `link_already_used`
   *   if the service returns an earlier link whose payment is no longer pending
   * @throws ConfigurationError for an invalid option
   */
  readonly createPaymentLink: (
    link: PaymentLinkRequest,
    options?: {
      /**
       * Makes repeated requests create only one link. If the link changes, change the key, or the
       * service may return the old link. Must be 1 to 255 printable ASCII characters without
       * leading or trailing spaces. Default: a random UUID, which covers the retries of this call.
       */
      readonly idempotencyKey?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ) => Promise<PaymentLink>;
  /**
   * Reads the payment for a reference. Retries network errors, timeouts and 5xx. On a 429, throws
   * immediately with `retryAfter`, because `@paylink/payments` pauses the requests for all orders.
   *
   * @throws PaylinkError, such as `not_found` if the service answers 404
   * @throws ConfigurationError for an invalid option
   */
  readonly getPayment: (
    reference: string,
    options?: {
      readonly signal?: AbortSignal | undefined;
      /** The merchant, from `createPayments`. The client ignores it, because it has one API key. */
      readonly tenant?: string | null | undefined;
    },
  ) => Promise<Payment>;
}

/**
 * Creates a client for the Payment Link Service. Use it only on servers.
 *
 * @throws ConfigurationError that names the option
 */
export function createClient(options: ClientOptions): PaylinkClient {
  const settings = createSettings(options);
  return Object.freeze<PaylinkClient>({
    async createPaymentLink(link, callOptions = {}) {
      const own = validateOptions(callOptions, ['idempotencyKey', 'signal']);
      checkSignal(own.signal);
      const checked = parseLink(link);
      const idempotencyKey = validateIdempotencyKey(own.idempotencyKey);
      const call: Call = {
        endpoint: 'POST /v1/payment-links',
        method: 'POST',
        path: '/v1/payment-links',
        success: 201,
        body: checked.json,
        idempotencyKey,
      };
      const answer = await sendWithRetries(settings, call, own.signal);
      return parsePaymentLink(answer, checked, settings, idempotencyKey);
    },

    async getPayment(reference, callOptions = {}) {
      const { signal } = validateOptions(callOptions, ['signal', 'tenant']);
      checkSignal(signal);
      const fault = faultInPath(reference);
      if (fault !== undefined) throw new PaylinkError('invalid_reference', `reference ${fault}`);
      const call: Call = {
        endpoint: 'GET /v1/payments/{reference}',
        method: 'GET',
        path: `/v1/payments/${encodeURIComponent(reference)}`,
        success: 200,
      };
      return parsePayment(await sendWithRetries(settings, call, signal), reference);
    },
  });
}
