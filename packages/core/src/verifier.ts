import { lookUp, type WebhookHeaders } from './delivery.js';
import type { WebhookEvent } from './event.js';
import { validateSettings, type VerifierOptions } from './options.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { requireBytes, requireSignature } from './signature.js';
import { proveEvent } from './verify.js';

export interface Verifier<Events extends EventSchemas, Host> {
  /**
   * Proves that the service sent these bytes, and resolves with their event. Never resolves with a
   * boolean, so that a caller cannot mistake an ignored result for success.
   *
   * @param rawBody the bytes exactly as received
   * @param headers Node's `req.headers`, or a Fetch `Headers`
   * @param host the argument of `secret`, if `secret` is a function
   * @throws WebhookError `invalid_signature`, `invalid_event`, `invalid_payload`,
   *   `event_contradicted`, `payment_pending`, `secret_unavailable`, or `body_consumed` if
   *   `rawBody` is not bytes
   */
  verify(rawBody: Uint8Array, headers: WebhookHeaders, host?: Host): Promise<WebhookEvent<Events>>;
}

/** @throws ConfigurationError that names the option, for example for a missing secret */
export function createVerifier<const Events extends EventSchemas = NoEvents, Host = unknown>(
  options: VerifierOptions<Events, Host>,
): Verifier<Events, Host> {
  const settings = validateSettings(options, 'verifier');
  const names = settings.headers;
  return {
    async verify(rawBody, headers, host) {
      return proveEvent(settings, {
        rawBody: requireBytes(rawBody),
        signature: requireSignature(lookUp(headers, names.signature)),
        kindHeader: lookUp(headers, names.event),
        host,
        report: { proven: undefined },
      }) as Promise<WebhookEvent<Events>>;
    },
  };
}
