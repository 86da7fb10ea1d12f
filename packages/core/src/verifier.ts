import { lookUp, type WebhookHeaders } from './delivery.js';
import type { WebhookEvent } from './event.js';
import { createSettings, type VerifierOptions } from './options.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { requireBytes, requireSignature } from './signature.js';
import { parseEvent, proveSignature, requireValid } from './verify.js';

/** Verifies raw bodies. `createVerifier` creates one. */
export interface Verifier<Events extends EventSchemas, Host> {
  /**
   * Verifies that the service sent these bytes and resolves with the event. Never resolves with a
   * boolean, so that callers cannot ignore a failure.
   *
   * @param rawBody the bytes exactly as received
   * @param headers Node's `req.headers`, or a Fetch `Headers`
   * @param host the argument for `secret` if `secret` is a function
   * @throws WebhookError `invalid_signature`, `invalid_event`, `invalid_payload`,
   *   `event_contradicted`, `payment_pending`, `secret_unavailable`, `handler_timeout` if a schema
   *   takes over 5 seconds, or `body_consumed` if `rawBody` is not bytes
   * @throws the error of a schema
   */
  verify(rawBody: Uint8Array, headers: WebhookHeaders, host?: Host): Promise<WebhookEvent<Events>>;
}

/** Creates a verifier for raw bodies. @throws ConfigurationError, such as for a missing secret */
export function createVerifier<const Events extends EventSchemas = NoEvents, Host = unknown>(
  options: VerifierOptions<Events, Host>,
): Verifier<Events, Host> {
  const settings = createSettings(options, 'verifier');
  const names = settings.headers;
  return {
    async verify(rawBody, headers, host) {
      const kindHeader = lookUp(headers, names.event);
      const proving = proveSignature(settings, {
        rawBody: requireBytes(rawBody),
        signature: requireSignature(lookUp(headers, names.signature)),
        host,
      });
      // An await of proven bytes would let the caller change them before the parser.
      const proven = proving instanceof Promise ? await proving : proving;
      const event = parseEvent(settings, proven, kindHeader);
      return requireValid(settings, event) as Promise<WebhookEvent<Events>>;
    },
  };
}
