/** The second half of a receiver, for a worker that takes from a queue what a receiver proved and put there. */
import type { ConfirmedPayment } from './confirm.js';
import { check, fault } from './errors.js';
import { createEventReader } from './event-reader.js';
import { createHandling, type Handled } from './handling.js';
import { readHandlers, type ReceiverHandlers } from './handlers.js';
import { readLogger } from './logger.js';
import { createReporter, noteEvent, startFacts } from './reporting.js';
import { checkDispatcherOptions, type DispatcherOptions } from './options.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { requireBytes } from './signature.js';

export type { Handled as Dispatched } from './handling.js';

/** What a queue has to keep of a proven event. The event is read from it again, so that a schema's output needs no JSON. */
export interface ProvenDelivery {
  /** `type` of the event; of an unrecognized one, its `kind`. */
  readonly kind: string;
  /** The bytes that were signed. */
  readonly rawBody: Uint8Array;
  readonly secretIndex: number;
  /** The merchant, where the receiver found it: it counts in place of the option `tenant`. */
  readonly tenant?: string | undefined;
}

/** Runs the merchant's handlers on what was proven elsewhere. */
export interface Dispatcher<Host> {
  /**
   * Takes an event from its bytes to its effect, as a receiver does after the signature: schema, already done?, confirm, store,
   * handler, under one `handlerTimeout`. **It proves nothing:** only what a receiver or a gate has verified may come here.
   *
   * @param options.signal aborts the attempt, as the end of its time does
   * @throws what the handler threw; WebhookError with the code that a receiver would have replied; `misconfigured` for a kind
   * without a handler, since a receiver took it in
   */
  dispatch(delivery: ProvenDelivery, host: Host, options?: { readonly signal?: AbortSignal | undefined }): Promise<Handled>;
}

/**
 * Makes a dispatcher. It needs no secret.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function createDispatcher<
  const Events extends EventSchemas = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
  Host = unknown,
>(
  options: DispatcherOptions<Events, Payment, Scope, Host>,
  handlers: ReceiverHandlers<Events, Payment, Scope, Host>,
): Dispatcher<Host> {
  checkDispatcherOptions(options);
  // What its schemas give matters to the merchant's types: here an event is any event.
  const reader = createEventReader<NoEvents>(options.events, options.confirm === undefined ? 'refuse' : 'note');
  const handlerOf = readHandlers(handlers, reader.kinds);
  const handle = createHandling(options as DispatcherOptions<NoEvents, ConfirmedPayment, object>, handlers);
  const reporter = createReporter(options.observe, readLogger(options.logger));
  return {
    async dispatch({ kind, rawBody, secretIndex, tenant }, host, { signal } = {}) {
      const facts = startFacts();
      let handling = false;
      try {
        const fit = tenant === undefined || (typeof tenant === 'string' && tenant !== '');
        check(fit, 'tenant', 'must be a string that is not empty');
        const bytes = requireBytes(rawBody);
        facts.bodyBytes = bytes.length;
        const event = noteEvent(await reader.read(bytes, secretIndex, kind), facts);
        const handler = handlerOf(event.type);
        if (handler === undefined) throw fault('misconfigured', `there is no handler for events of the kind ${kind}`);
        handling = true;
        const handled = await handle(event, handler, host, { signal, tenant });
        reporter.outcome(facts, handled.outcome);
        return handled;
      } catch (error) {
        reporter.failure(error, facts, handling);
        throw error;
      }
    },
  };
}
