import { synchronous } from '#hmac';
import { isPromise, settle } from './deadline.js';
import { lookUp, type WebhookHeaders } from './delivery.js';
import { WebhookError } from './errors.js';
import { contradictionOf, parsePayload, readEvents, readKind, validate, type Contradiction, type WebhookEvent } from './event.js';
import { checkVerifierOptions, readHeaderNames, type VerifierOptions } from './options.js';
import type { EventSchemas, NoEvents, StandardSchema } from './schema.js';
import { createKeyring } from './secret.js';
import { matchSignature, requireBytes, requireSignature } from './signature.js';

export interface Verifier<Events extends EventSchemas, Host> {
  /**
   * Proves that the service sent these bytes, and gives the event that they tell. For a host that has no adapter. A caller
   * that forgets to look at the result has no success to mistake: it resolves with the event or throws.
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
  const prover = new Prover(options);
  return {
    async verify(rawBody, headers, host) {
      const bytes = requireBytes(rawBody);
      const signature = requireSignature(lookUp(headers, prover.headers.signature));
      return prover.prove(bytes, signature, lookUp(headers, prover.headers.event), host as Host);
    },
  };
}

// Room for a schema that asks a database; one that hangs must not hold the request.
const SCHEMA_TIMEOUT = 5_000;

/** The steps from bytes to event that a verifier and a receiver share. */
export class Prover<Events extends EventSchemas, Host> {
  readonly headers: { readonly signature: string; readonly event: string };
  readonly kinds: ReadonlyMap<string, StandardSchema | undefined>;
  readonly #keyring: ReturnType<typeof createKeyring<Host>>;

  constructor(options: VerifierOptions<Events, Host>) {
    this.#keyring = createKeyring(options.secret, options.logger ?? console);
    this.headers = readHeaderNames(options.headers);
    this.kinds = readEvents(options.events);
  }

  /**
   * @param overruled told of a signed status that contradicts the header, where something better decides; without it, that
   * is an error
   */
  async prove(
    rawBody: Uint8Array,
    signature: string,
    kindHeader: unknown,
    host: Host,
    overruled?: (contradiction: Contradiction) => void,
  ): Promise<WebhookEvent<Events>> {
    const keyring = this.#keyring(host);
    const keys = isPromise(keyring) ? await keyring : keyring;
    // Where the check takes a while, what is checked and what is parsed must be bytes that nobody else can change.
    const bytes = synchronous ? rawBody : rawBody.slice();
    const match = matchSignature(keys, bytes, signature);
    const secretIndex = typeof match === 'number' ? match : await match;

    // From here on the sender is known.
    const kind = readKind(kindHeader);
    const body = parsePayload(bytes);
    const contradiction = contradictionOf(kind, body);
    if (contradiction !== undefined) {
      if (overruled === undefined) throw contradicted(contradiction);
      overruled(contradiction);
    }
    const { reference } = body;
    if (!this.kinds.has(kind)) {
      return Object.freeze({ type: 'unrecognized', kind, reference, payload: body, rawBody: bytes, secretIndex });
    }
    const schema = this.kinds.get(kind);
    const validated = schema === undefined ? body : settle(() => validate(schema, body), SCHEMA_TIMEOUT, schemaTimeout);
    const payload = isPromise(validated) ? await validated : validated;
    // The map of schemas gives each kind its payload; what it says at run time, the types say at compile time.
    return Object.freeze({ type: kind, reference, payload, rawBody: bytes, secretIndex }) as WebhookEvent<Events>;
  }
}

function contradicted(code: Contradiction): WebhookError {
  return new WebhookError(code, {
    message: 'the event header says payment.succeeded, and the `status` of the signed body says something else',
  });
}

function schemaTimeout(): WebhookError {
  return new WebhookError('handler_timeout', { message: 'the schema of the event kind did not settle in 5 s' });
}
