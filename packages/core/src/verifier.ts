import { isPromise } from './deadline.js';
import { lookUp, type WebhookHeaders } from './delivery.js';
import type { WebhookEvent } from './event.js';
import { readLogger } from './logger.js';
import { checkVerifierOptions, type VerifierOptions } from './options.js';
import { createProver } from './prover.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { requireBytes, requireSignature } from './signature.js';

export interface Verifier<Events extends EventSchemas, Host> {
  /**
   * Proves that the service sent these bytes, and gives the event that they hold. A caller that forgets to look at the result
   * has no success to mistake: it resolves with the event or throws.
   *
   * @param rawBody the bytes exactly as received
   * @param headers Node's `req.headers`, or a Fetch `Headers`
   * @param host handed to `secret` where that is a function
   * @throws WebhookError `invalid_signature`, `invalid_event`, `invalid_payload`, `event_contradicted`, `payment_pending`,
   * `secret_unavailable`, or `body_consumed` when `rawBody` is not bytes
   */
  verify(rawBody: Uint8Array, headers: WebhookHeaders, host?: Host): Promise<WebhookEvent<Events>>;
}

/**
 * Makes a verifier: the low-level way, for a host that has no adapter.
 *
 * @throws ConfigurationError that names the option, for a missing or unusable secret above all.
 */
export function createVerifier<const Events extends EventSchemas = NoEvents, Host = unknown>(
  options: VerifierOptions<Events, Host>,
): Verifier<Events, Host> {
  checkVerifierOptions(options);
  const prover = createProver(options, readLogger(options.logger), 'refuse');
  return {
    async verify(rawBody, headers, host) {
      const bytes = requireBytes(rawBody);
      const signature = requireSignature(lookUp(headers, prover.headers.signature));
      const proven = prover.prove(bytes, signature, lookUp(headers, prover.headers.event), host as Host);
      // To await what is there costs a small body a twentieth of its time.
      return (isPromise(proven) ? await proven : proven).event;
    },
  };
}
