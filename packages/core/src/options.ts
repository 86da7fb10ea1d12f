import type { ConfirmedPayment, PaymentSource } from './confirm.js';
import { ConfigurationError } from './errors.js';
import type { ConfiguredEvent, UnrecognizedEvent } from './event.js';
import type { IdempotencyOption } from './idempotency.js';
import type { ObserveHook } from './observe.js';
import type { EventSchemas } from './schema.js';
import type { SecretOption } from './secret.js';

/** Where warnings and failures are told to the merchant. Never given a secret, a signature, a key or a body. */
export interface Logger {
  warn(message: string): void;
  error(message: string): void;
}

export interface VerifierOptions<Events extends EventSchemas, Host> {
  /** The webhook secret of the merchant portal, a list of up to 8 during a rotation, or a function that gives either. */
  readonly secret: SecretOption<Host>;
  /** More event kinds, each with a Standard Schema of its payload. Their names rest on the unsigned event header. */
  readonly events?: Events | undefined;
  /** Other names of the two headers. Default `X-Service-Signature` and `X-Service-Event`. */
  readonly headers?: { readonly signature?: string | undefined; readonly event?: string | undefined } | undefined;
  /** Default `console`. */
  readonly logger?: Logger | undefined;
}

interface ReadingOptions<Events extends EventSchemas, Host> extends VerifierOptions<Events, Host> {
  /** The most bytes of a body. Default 65,536. */
  readonly bodyLimit?: number | undefined;
  /** Milliseconds for a whole body to arrive. Default 10,000. */
  readonly bodyTimeout?: number | undefined;
  /** Called once for each delivery, whatever came of it. What it throws changes nothing. */
  readonly observe?: ObserveHook | undefined;
}

export interface ReceiverOptions<
  Events extends EventSchemas,
  Payment extends ConfirmedPayment,
  Scope extends object,
  Host,
> extends ReadingOptions<Events, Host> {
  /** Asks the service whether the payment succeeded, before the handler runs. */
  readonly confirm?: PaymentSource<Payment> | undefined;
  /** Runs the handler once for each event. */
  readonly idempotency?: IdempotencyOption<Scope> | undefined;
  /** Milliseconds for the handler, `confirm` and the store together. Default 25,000. */
  readonly handlerTimeout?: number | undefined;
}

/** The options of a gate: it verifies and hands on, so nothing can run around the merchant's code. */
export interface GateOptions<Events extends EventSchemas, Host, Pass extends 'pass' | undefined = undefined> extends ReadingOptions<
  Events,
  Host
> {
  /** `'pass'` hands on signed events of kinds that are not configured; otherwise they are acknowledged and ignored. */
  readonly unrecognized?: Pass;
  readonly confirm?: never;
  readonly idempotency?: never;
  readonly handlerTimeout?: never;
}

/** The events that a gate hands on. */
export type GateEvent<Events extends EventSchemas, Pass extends 'pass' | undefined> =
  ConfiguredEvent<Events> | (Pass extends 'pass' ? UnrecognizedEvent : never);

const VERIFIER_OPTIONS = ['secret', 'events', 'headers', 'logger'];
const RECEIVER_OPTIONS = [
  ...VERIFIER_OPTIONS,
  ...['bodyLimit', 'bodyTimeout', 'observe', 'confirm', 'idempotency', 'handlerTimeout', 'unrecognized'],
];

/** A misspelt option would be a protection that is silently off. */
function refuseUnknown(options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new ConfigurationError(name, `is no option; there are ${known.join(', ')}`);
  }
}

export function checkVerifierOptions(options: unknown, known = VERIFIER_OPTIONS): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('options', 'must be an object with at least a `secret`');
  }
  refuseUnknown(options, known);
}

export function checkReceiverOptions(options: unknown): void {
  checkVerifierOptions(options, RECEIVER_OPTIONS);
}

const TOKEN = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** The lower-case names of the signature header and of the event header. */
export function readHeaderNames(headers: VerifierOptions<EventSchemas, unknown>['headers']): { signature: string; event: string } {
  const names = {
    signature: (headers?.signature ?? 'x-service-signature').toLowerCase(),
    event: (headers?.event ?? 'x-service-event').toLowerCase(),
  };
  if (!TOKEN.test(names.signature)) throw new ConfigurationError('headers.signature', 'is not a header name');
  if (!TOKEN.test(names.event)) throw new ConfigurationError('headers.event', 'is not a header name');
  if (names.event === names.signature) throw new ConfigurationError('headers', 'must name two different headers');
  return names;
}

// The longest that a timer can be set for; a longer one would fire at once.
const LONGEST = 2 ** 31 - 1;

/** A bound that cannot be read throws, since ignoring it would switch the protection off. */
export function readBound(option: string, value: number | undefined, otherwise: number): number {
  const bound = value ?? otherwise;
  if (!Number.isInteger(bound) || bound < 1 || bound > LONGEST) {
    throw new ConfigurationError(option, `must be a whole number from 1 to ${LONGEST}`);
  }
  return bound;
}
