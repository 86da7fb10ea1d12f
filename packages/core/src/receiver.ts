/**
 * The road of a delivery: headers, body, signature, event, store, confirmation, handler, reply. DESIGN: each step has one
 * owner, and no step knows the next one's business.
 */
import { confirmPayment, type ConfirmedPayment } from './confirm.js';
import { settle } from './deadline.js';
import type { BodyLimits, Delivery } from './delivery.js';
import { ConfigurationError, isWebhookError, WebhookError } from './errors.js';
import type { Contradiction, WebhookEvent } from './event.js';
import { readHandlers, toError, type Handler, type ReceiverHandlers } from './handlers.js';
import { isDone, readIdempotency, runOnce, type Idempotency } from './idempotency.js';
import { Observation } from './observe.js';
import { checkReceiverOptions, readBound, type GateEvent, type GateOptions, type Logger, type ReceiverOptions } from './options.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { requireBytes, requireSignature } from './signature.js';
import { Prover } from './verifier.js';

/** Verifies deliveries and runs the merchant's handler. An adapter makes deliveries and writes replies; this is the rest. */
export interface Receiver<Events extends EventSchemas, Host> {
  /**
   * Takes one delivery all the way. Resolves with the reply; `host` is merged into the handler's context.
   *
   * @throws what the handler threw, unless that is a WebhookError: it belongs to the host's own error handling.
   */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
  /** Only verifies, for code that handles the event by itself. @throws WebhookError */
  verify(delivery: Delivery, host?: Host): Promise<WebhookEvent<Events>>;
}

/** Verifies deliveries and hands them on. */
export interface Gate<Event, Events extends EventSchemas, Host> {
  /** Gives the event to hand on, or the reply to write instead: a refusal, or the acknowledgement of a kind not configured. */
  admit(delivery: Delivery, host: Host): Promise<Admission<Event>>;
  /** Only verifies: gives the event of any kind. @throws WebhookError */
  verify(delivery: Delivery, host?: Host): Promise<WebhookEvent<Events>>;
}

export type Admission<Event> =
  { readonly event: Event; readonly reply?: never } | { readonly reply: Reply; readonly event?: never };

/**
 * Makes the receiver that an adapter stands on; without handlers, a gate.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
  Host = unknown,
>(
  options: ReceiverOptions<Events, Payment, Scope, Host>,
  handlers: ReceiverHandlers<Events, Payment, Scope, Host>,
): Receiver<Events, Host>;
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host = unknown,
  const Pass extends 'pass' | undefined = undefined,
>(options: GateOptions<Events, Host, Pass>): Gate<GateEvent<Events, Pass>, Events, Host>;
export function createReceiver(
  options: unknown,
  // A rest parameter, because handlers that are given as undefined are a mistake, and no handlers at all are a gate.
  ...handlers: unknown[]
): unknown {
  checkReceiverOptions(options);
  return handlers.length === 0 ? createGate(options as AnyGateOptions) : createHandling(options as AnyReceiverOptions, handlers[0]);
}

// Within this file an event is any event: the types of a merchant's own kinds matter to the merchant's handlers only.
type AnyReceiverOptions = ReceiverOptions<NoEvents, ConfirmedPayment, object, unknown>;
type AnyGateOptions = GateOptions<NoEvents, unknown, 'pass' | undefined>;
type AnyHandler = Handler<WebhookEvent, object>;

function createHandling(options: AnyReceiverOptions, handlers: unknown): Receiver<NoEvents, unknown> {
  if ('unrecognized' in options) {
    throw new ConfigurationError('unrecognized', 'is for a gate: give the map of handlers an `unrecognized` instead');
  }
  const intake = new Intake(options, options.confirm !== undefined);
  const handlerOf = readHandlers(handlers, intake.kinds);
  const dispatch = createDispatch(options);
  return {
    verify: (delivery, host) => intake.verify(delivery, host),
    async receive(delivery, host) {
      const observation = new Observation(options.observe);
      let handling = false;
      try {
        const event = await intake.read(delivery, host, observation);
        const handler = handlerOf(event.type);
        if (handler === undefined) {
          observation.report('ignored');
          return acknowledge();
        }
        handling = true;
        const { outcome, value } = await dispatch(event, handler, host);
        observation.report(outcome);
        return acknowledge(value);
      } catch (error) {
        intake.tell(error, observation, handling);
        if (isWebhookError(error)) return errorReply(error);
        throw error;
      }
    },
  };
}

function createGate(options: AnyGateOptions): Gate<WebhookEvent, NoEvents, unknown> {
  for (const option of ['confirm', 'idempotency', 'handlerTimeout'] as const) {
    if (options[option] !== undefined) {
      throw new ConfigurationError(option, 'needs handlers: a gate hands on, so nothing can run around what comes after it');
    }
  }
  if (options.unrecognized !== undefined && options.unrecognized !== 'pass') {
    throw new ConfigurationError('unrecognized', "must be 'pass'");
  }
  const intake = new Intake(options, false);
  return {
    verify: (delivery, host) => intake.verify(delivery, host),
    async admit(delivery, host) {
      const observation = new Observation(options.observe);
      try {
        const event = await intake.read(delivery, host, observation);
        const handOn = event.type !== 'unrecognized' || options.unrecognized === 'pass';
        observation.report(handOn ? 'handled' : 'ignored');
        return handOn ? { event } : { reply: acknowledge() };
      } catch (error) {
        intake.tell(error, observation, false);
        if (isWebhookError(error)) return { reply: errorReply(error) };
        throw error;
      }
    },
  };
}

/** From a request to a proven event, and what is told of a failure on the way. */
class Intake {
  readonly #limits: BodyLimits;
  readonly #prover: Prover<NoEvents, unknown>;
  readonly #options: AnyReceiverOptions | AnyGateOptions;
  readonly #logger: Logger;
  readonly #confirmed: boolean;

  constructor(options: AnyReceiverOptions | AnyGateOptions, confirmed: boolean) {
    this.#limits = {
      bodyLimit: readBound('bodyLimit', options.bodyLimit, 65_536),
      bodyTimeout: readBound('bodyTimeout', options.bodyTimeout, 10_000),
    };
    if (options.observe !== undefined && typeof options.observe !== 'function') {
      throw new ConfigurationError('observe', 'must be a function');
    }
    this.#prover = new Prover(options);
    this.#options = options;
    this.#logger = options.logger ?? console;
    this.#confirmed = confirmed;
  }

  get kinds(): Prover<NoEvents, unknown>['kinds'] {
    return this.#prover.kinds;
  }

  async verify(delivery: Delivery, host: unknown): Promise<WebhookEvent> {
    const observation = new Observation(this.#options.observe);
    try {
      const event = await this.read(delivery, host, observation);
      observation.report('handled');
      return event;
    } catch (error) {
      this.tell(error, observation, false);
      throw error;
    }
  }

  async read(delivery: Delivery, host: unknown, observation: Observation): Promise<WebhookEvent> {
    const { headers } = this.#prover;
    const { bodyLimit } = this.#limits;

    // Whatever can be refused by its headers is refused before one byte of the body is read.
    if (delivery.method !== undefined && delivery.method !== 'POST') {
      throw new WebhookError('method_not_allowed', { message: 'a notification is a POST' });
    }
    const declared = delivery.header('content-length');
    if (declared !== undefined && !(Number(declared) <= bodyLimit)) throw tooLarge(bodyLimit);
    const signature = requireSignature(delivery.header(headers.signature));
    const encoding = delivery.header('content-encoding')?.trim().toLowerCase();
    if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
      throw new WebhookError('unsupported_encoding', {
        message: 'the body has a content encoding, so its bytes are not those that were signed',
      });
    }

    const rawBody = requireBytes(await delivery.body(this.#limits));
    observation.note({ bodyBytes: rawBody.length });
    if (rawBody.length > bodyLimit) throw tooLarge(bodyLimit);

    const overruled = (code: Contradiction): void => {
      observation.note({ code });
    };
    const kind = delivery.header(headers.event);
    const event = await this.#prover.prove(rawBody, signature, kind, host, this.#confirmed ? overruled : undefined);
    observation.note({ type: event.type, reference: event.reference, secretIndex: event.secretIndex });
    return event;
  }

  /** Reports a failure, and logs it where the merchant has something to mend. */
  tell(error: unknown, observation: Observation, handling: boolean): void {
    if (!isWebhookError(error)) {
      observation.report('failed', 'handler_failed');
      return;
    }
    observation.report(error.status >= 500 || handling ? 'failed' : 'rejected', error.code);
    if (error.status >= 500) this.#logger.error(describe(error));
  }
}

type Dispatch = (event: WebhookEvent, handler: AnyHandler, host: unknown) => Promise<Dispatched> | Dispatched;

interface Dispatched {
  readonly outcome: 'handled' | 'duplicate' | 'ignored';
  readonly value?: unknown;
}

/** Makes the way from a proven event to its effect: already done? → confirm → run once → handler, all under one deadline. */
function createDispatch(options: AnyReceiverOptions): Dispatch {
  const { confirm } = options;
  const handlerTimeout = readBound('handlerTimeout', options.handlerTimeout, 25_000);
  const idempotency = options.idempotency === undefined ? undefined : readIdempotency(options.idempotency);
  if (confirm !== undefined && typeof (confirm as Partial<typeof confirm> | null)?.getPayment !== 'function') {
    throw new ConfigurationError('confirm', 'must have a function `getPayment(reference)`');
  }

  return (event, handler, host) => {
    const attempt = new Attempt();
    return settle(
      () => (confirm === undefined && idempotency === undefined ? runBare(attempt) : runGuarded(attempt)),
      handlerTimeout,
      () => attempt.expire(handlerTimeout),
    );

    function runBare(attempt: Attempt): Dispatched | Promise<Dispatched> {
      const value = callHandler(attempt, {});
      return isThenable(value) ? value.then(handled) : handled(value);
    }

    async function runGuarded(attempt: Attempt): Promise<Dispatched> {
      const key = idempotency && (await attempt.step('store_unavailable', () => idempotency.keyOf(event)));
      if (idempotency && key !== undefined && (await attempt.step('store_unavailable', () => isDone(idempotency.store, key)))) {
        return { outcome: 'duplicate' };
      }
      const extras: { payment?: ConfirmedPayment } = {};
      if (confirm !== undefined && event.type === 'payment.succeeded') {
        const payment = await attempt.step('confirm_unavailable', () => confirmPayment(confirm, event.reference, attempt.signal));
        if (payment === undefined) return { outcome: 'ignored' };
        extras.payment = payment;
      }
      if (idempotency === undefined || key === undefined) return handled(await callHandler(attempt, extras));
      return runUnderKey(attempt, idempotency, key, extras);
    }

    async function runUnderKey(attempt: Attempt, { store }: Idempotency<object>, key: string, extras: object): Promise<Dispatched> {
      let value: unknown;
      const work = async (scope: object): Promise<void> => {
        value = await callHandler(attempt, { ...scope, ...extras });
        // Whatever is left to wait for is the commit.
        attempt.waitingFor = 'store_unavailable';
      };
      const result = await attempt.step('store_unavailable', () => runOnce(store, key, work, attempt.signal));
      return result === 'done' ? handled(value) : { outcome: 'duplicate' };
    }

    function callHandler(attempt: Attempt, extras: object): unknown {
      return attempt.step('handler_timeout', () => invoke(handler, event, attempt.contextOf(host, extras)));
    }
  };
}

function handled(value: unknown): Dispatched {
  return { outcome: 'handled', value };
}

/** Calls the handler, and lets only Errors out of it. */
function invoke(handler: AnyHandler, event: WebhookEvent, context: object): unknown {
  try {
    const value = handler(event, context);
    return isThenable(value)
      ? value.then(undefined, (error: unknown) => {
          throw toError(error);
        })
      : value;
  } catch (error) {
    throw toError(error);
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null | undefined)?.then === 'function';
}

type Waiting = 'store_unavailable' | 'confirm_unavailable' | 'handler_timeout';

/** One try at handling an event: what it waits for, whether its time is over, and the signal that says so. */
class Attempt {
  waitingFor: Waiting = 'handler_timeout';
  #controller: AbortController | undefined;
  #expired: WebhookError | undefined;

  /** Made when somebody asks for it, since most handlers do not, and it costs more than the signature's check. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#expired !== undefined) this.#controller.abort(this.#expired);
    }
    return this.#controller.signal;
  }

  contextOf(host: unknown, extras: object): object {
    return Object.defineProperty({ ...(host as object), ...extras }, 'signal', { enumerable: true, get: () => this.signal });
  }

  /** Starts the next step, unless the reply has gone out: nothing may take effect after it. */
  step<T>(waitingFor: Waiting, run: () => T): T {
    if (this.#expired !== undefined) throw this.#expired;
    this.waitingFor = waitingFor;
    return run();
  }

  expire(milliseconds: number): WebhookError {
    const message = `no end after ${milliseconds} ms: the reply went out without one, and \`signal\` was aborted`;
    this.#expired = new WebhookError(this.waitingFor, { message });
    this.#controller?.abort(this.#expired);
    return this.#expired;
  }
}

function tooLarge(bodyLimit: number): WebhookError {
  return new WebhookError('body_too_large', { message: `the body is larger than bodyLimit (${bodyLimit} bytes)` });
}

function describe({ status, code, message, cause }: WebhookError): string {
  return `[paylink] ${status} ${code}: ${message}${describeCause(code, cause)}`;
}

function describeCause(code: string, cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  // What a secret's function throws can quote the secret; our own words never do.
  const quiet = code === 'secret_unavailable' && !(cause instanceof ConfigurationError);
  return quiet ? ` (${cause.name})` : ` (${cause.name}: ${cause.message})`;
}
