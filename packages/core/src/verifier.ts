import { synchronous } from '#hmac';
import { isPromise } from './deadline.js';
import { lookUp, type WebhookHeaders } from './delivery.js';
import { readLogger } from './logger.js';
import type { Contradiction, WebhookEvent } from './event.js';
import { createEventReader } from './event-reader.js';
import { checkVerifierOptions, readHeaderNames, type VerifierOptions } from './options.js';
import type { EventSchemas, NoEvents, StandardSchema } from './schema.js';
import { createKeyring } from './secret.js';
import { matchSignature, requireBytes, requireSignature } from './signature.js';

export interface Verifier<Events extends EventSchemas, Host> {
  /**
   * Proves that the service sent these bytes, and gives the event that they tell. A caller that forgets to look at the result
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
  const prover = createProver(options);
  return {
    async verify(rawBody, headers, host) {
      const bytes = requireBytes(rawBody);
      const signature = requireSignature(lookUp(headers, prover.headers.signature));
      return prover.prove(bytes, signature, lookUp(headers, prover.headers.event), host as Host);
    },
  };
}

/** The steps from bytes to event that a verifier and a receiver share. */
export interface Prover<Events extends EventSchemas, Host> {
  readonly headers: { readonly signature: string; readonly event: string };
  readonly kinds: ReadonlyMap<string, StandardSchema | undefined>;
  /**
   * Gives the event at once where nothing has to be waited for: a promise costs a small body a tenth of its time.
   *
   * @param overruled told of a signed status that contradicts the header, where something better decides; without it, that
   * is an error
   */
  prove(
    rawBody: Uint8Array,
    signature: string,
    kindHeader: unknown,
    host: Host,
    overruled?: (contradiction: Contradiction) => void,
  ): WebhookEvent<Events> | Promise<WebhookEvent<Events>>;
}

export function createProver<Events extends EventSchemas, Host>(options: VerifierOptions<Events, Host>): Prover<Events, Host> {
  const keyring = createKeyring(options.secret, readLogger(options.logger));
  const reader = createEventReader(options.events);

  return {
    headers: readHeaderNames(options.headers),
    kinds: reader.kinds,
    prove(received, signature, kindHeader, host, overruled) {
      const keys = keyring(host);
      // From the signature's match on the sender is known.
      if (synchronous && !isPromise(keys)) {
        return reader.read(received, matchSignature(keys, received, signature) as number, kindHeader, overruled);
      }
      return (async () => {
        // Where the check takes a while, what is checked and what is parsed must be bytes that nobody else can change.
        const rawBody = new Uint8Array(received);
        return reader.read(rawBody, await matchSignature(await keys, rawBody, signature), kindHeader, overruled);
      })();
    },
  };
}
