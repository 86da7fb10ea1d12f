import type { ConfirmedPayment, ConfirmOption } from './confirm.js';
import { check } from './errors.js';
import type { ConfiguredEvent, UnrecognizedEvent } from './event.js';
import type { IdempotencyOption } from './idempotency.js';
import type { Logger } from './logger.js';
import { checkNames } from './option-checks.js';
import type { ObserveHook } from './reporting.js';
import type { EventSchemas, NoEvents, NoKinds } from './schema.js';
import type { SecretOption } from './secret.js';
import type { TenantOption } from './tenant.js';

export interface HeaderNames {
  readonly signature?: string | undefined;
  readonly event?: string | undefined;
}

export interface VerifierOptions<Events extends EventSchemas, Host> {
  /** The webhook secret of the merchant portal, a list of up to 8 during a rotation, or a function that gives either. */
  readonly secret: SecretOption<Host>;
  /** More event kinds, each with a Standard Schema of its payload. Their names rest on the unsigned event header. */
  readonly events?: Events | NoKinds | undefined;
  /** Other names of the two headers. Default `X-Service-Signature` and `X-Service-Event`. */
  readonly headers?: HeaderNames | undefined;
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

/** What comes after the proof. */
interface HandlingOptions<Events extends EventSchemas, Payment extends ConfirmedPayment, Scope extends object, Host> {
  /** More event kinds, each with a Standard Schema of its payload. Their names rest on the unsigned event header. */
  readonly events?: Events | NoKinds | undefined;
  /** Asks the service whether the payment succeeded, before the handler runs. */
  readonly confirm?: ConfirmOption<Payment> | undefined;
  /** Runs the handler once for each event. */
  readonly idempotency?: IdempotencyOption<Scope, Host> | undefined;
  /**
   * The merchant whose order numbers these are, for the identity of an event and for `confirm`. Needed where `secret` is a
   * function and there is `confirm` or `idempotency`: `false` for one merchant, else the id under which the secret was found.
   */
  readonly tenant?: TenantOption<Host> | undefined;
  /** Milliseconds for the handler, `tenant`, `confirm` and the store together. Default 25,000. */
  readonly handlerTimeout?: number | undefined;
}

export interface ReceiverOptions<Events extends EventSchemas, Payment extends ConfirmedPayment, Scope extends object, Host>
  extends ReadingOptions<Events, Host>, HandlingOptions<Events, Payment, Scope, Host> {}

/** The options of a dispatcher: those of a receiver that come after the proof. */
export interface DispatcherOptions<
  Events extends EventSchemas,
  Payment extends ConfirmedPayment,
  Scope extends object,
  Host = unknown,
> extends HandlingOptions<Events, Payment, Scope, Host> {
  /** Called once for each dispatched delivery, whatever came of it. What it throws changes nothing. */
  readonly observe?: ObserveHook | undefined;
  /** Default `console`. */
  readonly logger?: Logger | undefined;
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
  readonly tenant?: never;
}

/** The events that a gate hands on. */
export type GateEvent<Events extends EventSchemas, Pass extends 'pass' | undefined> =
  ConfiguredEvent<Events> | (Pass extends 'pass' ? UnrecognizedEvent : never);

/** The names of options, held to their types: an option that is missing here would be refused as unknown. */
type Names<Options> = { readonly [Name in keyof Options]-?: null };

const VERIFIER_OPTIONS: Names<VerifierOptions<NoEvents, unknown>> = { secret: null, events: null, headers: null, logger: null };
const READING_OPTIONS: Names<ReadingOptions<NoEvents, unknown>> = {
  ...VERIFIER_OPTIONS,
  bodyLimit: null,
  bodyTimeout: null,
  observe: null,
};
const HANDLING_OPTIONS: Names<HandlingOptions<NoEvents, ConfirmedPayment, object, unknown>> = {
  events: null,
  confirm: null,
  idempotency: null,
  tenant: null,
  handlerTimeout: null,
};
const DISPATCHER_OPTIONS: Names<DispatcherOptions<NoEvents, ConfirmedPayment, object>> = {
  ...HANDLING_OPTIONS,
  observe: null,
  logger: null,
};

function checkKnown(options: unknown, known: object): void {
  const { handlers } = Object(options) as { readonly handlers?: unknown };
  check(handlers === undefined, 'handlers', 'is the second argument, not an option: paymentWebhook({ secret }, handlers)');
  checkNames(options, Object.keys(known));
}

export function checkVerifierOptions(options: unknown): void {
  checkKnown(options, VERIFIER_OPTIONS);
}

/** A gate has no `confirm`, `idempotency`, `tenant` and `handlerTimeout`: it hands on, so nothing can run around what comes after it. */
export function checkGateOptions(options: unknown): void {
  checkKnown(options, { ...READING_OPTIONS, unrecognized: null });
  const { unrecognized = 'pass' } = options as { unrecognized?: unknown };
  check(unrecognized === 'pass', 'unrecognized', "must be 'pass'");
}

/** With handlers there is no `unrecognized: 'pass'`, since the map of handlers has an entry of that name. */
export function checkReceiverOptions(options: unknown): void {
  checkKnown(options, { ...READING_OPTIONS, ...HANDLING_OPTIONS });
}

/** A dispatcher has no `secret`: what it is given was proven before. */
export function checkDispatcherOptions(options: unknown): void {
  checkKnown(options, DISPATCHER_OPTIONS);
}

/** The lower-case names of the signature header and of the event header. */
export function readHeaderNames(given: HeaderNames = {}): { readonly signature: string; readonly event: string } {
  checkNames(given, ['signature', 'event'], 'headers');
  const { signature = 'x-service-signature', event = 'x-service-event' } = given;
  const fit = [signature, event].every((name: unknown) => typeof name === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(name));
  check(fit && signature.toLowerCase() !== event.toLowerCase(), 'headers', 'must give two different header names');
  return { signature: signature.toLowerCase(), event: event.toLowerCase() };
}
