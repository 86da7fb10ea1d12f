import { check, checkSignal, validateOptions } from '@paylink/core/internal';
import { refuseBrowser } from './browser-guard.js';
import { isRefusal, PaylinkError } from './errors.js';
import { validateIdempotencyKey, SentKeys } from './idempotency-key.js';
import { faultInPath, parseLink, type PaymentLinkRequest } from './link.js';
import { createSettings, type ClientOptions } from './options.js';
import { parsePayment, parsePaymentLink, type Payment, type PaymentLink } from './payment.js';
import { send, type Call } from './request.js';
import { retry, throwIfAborted } from './retry.js';

/** The service's API. Pass it to createPayments as `client`. */
export interface PaylinkClient {
  /**
   * Creates a payment link. Retries send the same key and the same bytes.
   *
   * @throws PaylinkError, such as `invalid_link` before anything is sent, or `link_already_used` if
   *   the service returns an earlier link whose payment has ended
   */
  readonly createPaymentLink: (
    link: PaymentLinkRequest,
    options?: {
      /**
       * Identifies this attempt, so that repeated requests create one link: 1 to 255 characters of
       * printable ASCII. Default: a random UUID, which covers the retries of this call. A key
       * stored with the order also covers a restart.
       */
      readonly idempotencyKey?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ) => Promise<PaymentLink>;
  /**
   * Reads the payment of a reference.
   *
   * @throws PaylinkError, such as `not_found` if the service answers 404
   */
  readonly getPayment: (
    reference: string,
    options?: {
      readonly signal?: AbortSignal | undefined;
      /**
       * The merchant that payments asks for, or undefined with one merchant. A client has one API
       * key, so it rejects a second tenant with a ConfigurationError. Omit it in your own calls.
       */
      readonly tenant?: string | null | undefined;
      /**
       * If false, the call does not wait and retry after a 429 or a Retry-After. Default true.
       * `reconcile` passes false, because it pauses for all of its references at once.
       */
      readonly retryLimited?: boolean | undefined;
    },
  ) => Promise<Payment>;
}

/**
 * Makes a client of the Payment Link Service. For servers only.
 *
 * @throws ConfigurationError that names the option, or `createClient` in a browser
 */
export function createClient(options: ClientOptions): PaylinkClient {
  refuseBrowser();
  const settings = createSettings(options);
  const sentKeys = new SentKeys();
  let merchant: { readonly tenant: string | null | undefined } | undefined;

  const request = (
    call: Call,
    signal: AbortSignal | undefined,
    retryLimited = true,
  ): Promise<unknown> =>
    retry({ ...settings, signal, idempotencyKey: call.idempotencyKey, retryLimited }, (limit) =>
      send(settings, call, limit),
    );

  return Object.freeze<PaylinkClient>({
    async createPaymentLink(link, callOptions = {}) {
      const own = validateOptions(callOptions, ['idempotencyKey', 'signal']);
      const { signal } = own;
      checkSignal(signal);
      const checked = parseLink(link);
      const idempotencyKey = validateIdempotencyKey(own.idempotencyKey);
      throwIfAborted(signal);
      const isNew = await sentKeys.remember(idempotencyKey, checked.json);
      const call: Call = {
        endpoint: 'POST /v1/payment-links',
        method: 'POST',
        path: '/v1/payment-links',
        success: 201,
        body: checked.json,
        idempotencyKey,
      };
      const answer = await request(call, signal).catch((error: unknown) => {
        // The service created no link, so the caller can reuse the key for the corrected link.
        if (isNew && isRefusal(error)) sentKeys.forget(idempotencyKey);
        throw error;
      });
      return parsePaymentLink(answer, checked, settings, idempotencyKey);
    },

    async getPayment(reference, callOptions = {}) {
      const own = validateOptions(callOptions, ['signal', 'tenant', 'retryLimited']);
      const { signal, tenant, retryLimited } = own;
      const asked = Object.hasOwn(own, 'tenant') ? { tenant } : undefined;
      const problem =
        'differs from the tenant of an earlier call, but a client has the API key of one merchant. ' +
        'Pass settle and reconcile the tenant of the webhook, or give createPayments a function ' +
        'of the tenant: client: (tenant) => createClient({ … })';
      const isSame =
        asked === undefined || merchant === undefined || asked.tenant === merchant.tenant;
      check(isSame, 'tenant', problem);
      checkSignal(signal);
      const fault = faultInPath(reference);
      if (fault !== undefined) throw new PaylinkError('invalid_reference', `reference ${fault}`);
      merchant ??= asked;
      const call: Call = {
        endpoint: 'GET /v1/payments/{reference}',
        method: 'GET',
        path: `/v1/payments/${encodeURIComponent(reference)}`,
        success: 200,
      };
      return parsePayment(await request(call, signal, retryLimited), reference);
    },
  });
}
