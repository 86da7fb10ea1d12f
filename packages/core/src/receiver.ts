/**
 * The path of a delivery. Intake: headers, body, signature, event. Handling: tenant, store, confirmation, handler. Each step is
 * a module that knows nothing of the next.
 */
import type { ConfirmedPayment } from './confirm.js';
import type { Delivery } from './delivery.js';
import { isWebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { readHandlers, type ReceiverHandlers } from './handlers.js';
import { createIntake, type AnyGateOptions, type AnyReceiverOptions, type Intake } from './intake.js';
import { createHandling } from './handling.js';
import { hostError } from './host-error.js';
import { readLogger, warnOnce } from './logger.js';
import { checkGateOptions, checkReceiverOptions, type GateEvent, type GateOptions, type ReceiverOptions } from './options.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import { createReporter, startFacts, type Facts, type Reporter } from './reporting.js';
import type { EventSchemas, NoEvents } from './schema.js';

/** Verifies deliveries and runs the merchant's handler. An adapter makes deliveries and writes replies; this is the rest. */
export interface Receiver<Events extends EventSchemas, Host> {
  /**
   * Takes one delivery all the way. Resolves with the reply; `host` is merged into the handler's context.
   *
   * @param responding the host's means to respond, merged into the context too; under a store not into the handler's: there
   * nothing may be sent before the commit. `secret`, `tenant` and `key` are given them always
   * @throws what the handler threw, unless that is a WebhookError: it belongs to the host's own error handling. What is no
   * Error, and an error with fields that could word the host's reply (a status, headers …), is the `cause` of the Error thrown.
   */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
  receive(delivery: Delivery, host: object, responding: object): Promise<Reply>;
  /** Only verifies, for code that handles the event on its own. @throws WebhookError */
  verify(delivery: Delivery, host?: Host): Promise<WebhookEvent<Events>>;
}

/** Verifies deliveries and hands them on. */
export interface Gate<Event, Events extends EventSchemas, Host> {
  /** Gives the event to hand on, or the reply to write instead: a refusal, or the acknowledgement of a kind not configured. */
  admit(delivery: Delivery, host: Host): Promise<Admission<Event>>;
  /** Warns once that an event which was handed on was answered with 404, for an adapter that sees it. */
  warnUnanswered(): void;
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
  return handlers.length === 0
    ? createGate(options as AnyGateOptions)
    : createFullReceiver(options as AnyReceiverOptions, handlers[0]);
}

function createFullReceiver(options: AnyReceiverOptions, handlers: unknown): Receiver<NoEvents, unknown> {
  checkReceiverOptions(options);
  const logger = readLogger(options.logger);
  const reporter = createReporter(options.observe, logger);
  const intake = createIntake(options, logger);
  const handlerOf = readHandlers(handlers, intake.kinds);
  const handle = createHandling(options, handlers);
  const mayRespond = options.idempotency === undefined;
  return {
    verify: verifyBy(intake, reporter),
    async receive(delivery: Delivery, given: unknown, responding?: object) {
      const facts = startFacts();
      // Not by spread: see `createHandling`.
      const host: unknown = responding ? Object.assign({}, given, responding) : given;
      let handling = false;
      try {
        const event = await intake.read(delivery, host, facts);
        const handler = handlerOf(event.type);
        handling = true;
        const { outcome, value } =
          handler === undefined ? IGNORED : await handle(event, handler, host, { shown: mayRespond ? host : given });
        reporter.outcome(facts, outcome);
        return acknowledge(value);
      } catch (error) {
        return refuse(reporter, error, facts, handling);
      }
    },
  };
}

const IGNORED = { outcome: 'ignored', value: undefined } as const;

function createGate(options: AnyGateOptions): Gate<WebhookEvent, NoEvents, unknown> {
  checkGateOptions(options);
  const logger = readLogger(options.logger);
  const reporter = createReporter(options.observe, logger);
  const intake = createIntake(options, logger);
  const warn = warnOnce(logger);
  return {
    verify: verifyBy(intake, reporter),
    warnUnanswered() {
      warn(
        '[paylink] a proven event was answered with 404: nothing stands behind the gate. Give paymentWebhook the handlers as its ' +
          'second argument, or put a handler behind it that reads the event',
      );
    },
    async admit(delivery, host) {
      const facts = startFacts();
      try {
        const event = await intake.read(delivery, host, facts);
        const handOn = event.type !== 'unrecognized' || options.unrecognized === 'pass';
        reporter.outcome(facts, handOn ? 'handled' : 'ignored');
        return handOn ? { event } : { reply: acknowledge() };
      } catch (error) {
        return { reply: refuse(reporter, error, facts, false) };
      }
    },
  };
}

function verifyBy(intake: Intake, reporter: Reporter) {
  return async (delivery: Delivery, host?: unknown): Promise<WebhookEvent> => {
    const facts = startFacts();
    try {
      const event = await intake.read(delivery, host, facts);
      reporter.outcome(facts, 'handled');
      return event;
    } catch (error) {
      reporter.failure(error, facts, false);
      throw error;
    }
  };
}

/** The reply to an error of ours, or of the handler in our form. Anything else is the host's: @throws it. */
function refuse(reporter: Reporter, error: unknown, facts: Facts, byHandler: boolean): Reply {
  const failure = isWebhookError(error) ? error : hostError(error);
  reporter.failure(failure, facts, byHandler);
  if (isWebhookError(failure)) return errorReply(failure);
  throw failure;
}
