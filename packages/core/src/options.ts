import { createExplainer } from './diagnosis/explain.js';
import { check } from './errors.js';
import { createKinds } from './event.js';
import { createLogger, LineLimit, type Logger } from './logger.js';
import type { ObserveHook } from './reporting.js';
import type { EventSchemas, NoKinds } from './schema.js';
import { createKeyring, type SecretOption } from './secret.js';
import { validateBound, validateOptions } from './validate-options.js';

export interface HeaderNames {
  readonly signature?: string | undefined;
  readonly event?: string | undefined;
}

/** The options of `createVerifier`. */
export interface VerifierOptions<Events extends EventSchemas, Host> {
  /**
   * The webhook secret from the merchant portal, a list of up to 8 secrets during a rotation (the
   * current secret first), or a function that returns `{ secret, tenant }`.
   */
  readonly secret: SecretOption<Host>;
  /** More event kinds, each with a Standard Schema. The kind comes from an unsigned header. */
  readonly events?: Events | NoKinds | undefined;
  /** Custom names for the two headers. Default: `X-Service-Signature` and `X-Service-Event`. */
  readonly headers?: HeaderNames | undefined;
  /** Receives warnings and failures. Default: `console`, with the message and the error's stack. */
  readonly logger?: Logger | undefined;
}

/** Shared by receivers and gates, which read the body. */
interface Reading<Events extends EventSchemas, Host> extends VerifierOptions<Events, Host> {
  /** Maximum body size in bytes. Default: 65,536. */
  readonly bodyLimit?: number | undefined;
  /** Milliseconds for the whole body to arrive. Default: 10,000. */
  readonly bodyTimeout?: number | undefined;
  /** Called once with the outcome of each delivery. Errors from the hook have no effect. */
  readonly observe?: ObserveHook | undefined;
}

/** The options of `createReceiver` and of every adapter's `paymentWebhook`. */
export interface ReceiverOptions<Events extends EventSchemas, Host> extends Reading<Events, Host> {
  /** Milliseconds after which `signal` aborts and the reply is a 503. Default: 25,000. */
  readonly handlerTimeout?: number | undefined;
  /**
   * Called with each handler error, including Paylink's `handler_timeout`, and with each schema
   * error except a WebhookError. Errors from the hook have no effect.
   */
  readonly onError?: ErrorHook<Host> | undefined;
}

export type ErrorHook<Host> = (error: unknown, host: Host) => unknown;

/** The options of a gate, which only verifies. The merchant's own code replies. */
export interface GateOptions<Events extends EventSchemas, Host> extends Reading<Events, Host> {
  /** `'pass'` lets events of unrecognized kinds pass. Default: the gate acknowledges them. */
  readonly unrecognized?: 'pass' | undefined;
}

type AnyOptions = ReceiverOptions<EventSchemas, unknown> & GateOptions<EventSchemas, unknown>;

const VERIFIER = ['secret', 'events', 'headers', 'logger'];
const READING = [...VERIFIER, 'bodyLimit', 'bodyTimeout', 'observe'];
const KNOWN = {
  verifier: VERIFIER,
  receiver: [...READING, 'handlerTimeout', 'onError'],
  gate: [...READING, 'unrecognized'],
};

export type Settings = Readonly<ReturnType<typeof createSettings>>;

export function createSettings(options: unknown, use: keyof typeof KNOWN) {
  const own = validateOptions(options as AnyOptions, KNOWN[use]);
  const { bodyLimit = 65_536, bodyTimeout = 10_000, handlerTimeout = 25_000 } = own;
  const { observe, onError, unrecognized } = own;
  for (const [option, hook] of Object.entries({ observe, onError })) {
    check(hook === undefined || typeof hook === 'function', option, 'must be a function');
  }
  const isPassing = unrecognized === undefined || unrecognized === 'pass';
  check(isPassing, 'unrecognized', "must be 'pass'");
  const logger = createLogger(own.logger);
  return {
    keyring: createKeyring(own.secret, logger),
    kinds: createKinds(own.events),
    headers: createHeaderNames(own.headers),
    logger,
    refusals: new LineLimit(),
    limits: {
      bodyLimit: validateBound('bodyLimit', bodyLimit),
      bodyTimeout: validateBound('bodyTimeout', bodyTimeout),
    },
    handlerTimeout: validateBound('handlerTimeout', handlerTimeout),
    observe,
    onError,
    // Logs why a signature does not match. Undefined in production too.
    explain: use === 'verifier' ? undefined : createExplainer(logger),
    unrecognized,
  };
}

function createHeaderNames(names: HeaderNames = {}) {
  const own = validateOptions(names, ['signature', 'event'], 'headers');
  const { signature = 'x-service-signature', event = 'x-service-event' } = own;
  const areNames = [signature, event].every(
    (name: unknown) => typeof name === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(name),
  );
  const areTwo = areNames && signature.toLowerCase() !== event.toLowerCase();
  check(areTwo, 'headers', 'must contain two different header names');
  return { signature: signature.toLowerCase(), event: event.toLowerCase() };
}
