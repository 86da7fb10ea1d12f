/** Receives a delivery: proof, handler, reply. Every adapter builds on this file. */
import type { Delivery } from './delivery.js';
import { createExplainer } from './diagnosis/explain.js';
import { isWebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { validateHandlers, type Handlers } from './handlers.js';
import { hostError } from './host-error.js';
import { validateSettings, type GateOptions, type ReceiverOptions } from './options.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import { createReporter, type DeliveryReport } from './reporting.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { verifyDelivery, type Proof } from './verify.js';

/** Verifies deliveries and runs the merchant's handler. */
export interface Receiver<Host> {
  /**
   * Verifies one delivery, runs the handler and resolves with the reply to write. Adds the fields
   * of `host` to the handler's context.
   *
   * @throws the handler's error, made safe for the host's own error handler. A WebhookError becomes
   *   the reply instead.
   */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
}

/** Verifies deliveries for other code to handle. */
export interface Gate<Host> {
  /** Resolves with the proven event, or with the reply to write instead. */
  admit(delivery: Delivery, host: Host): Promise<Admission>;
}

export type Admission =
  | { readonly event: WebhookEvent; readonly reply?: never }
  | { readonly reply: Reply; readonly event?: never };

/**
 * Makes the receiver of an adapter, or a gate if called without handlers.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host>;
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: GateOptions<Events, Host>): Gate<Host>;
export function createReceiver(
  options: unknown,
  // A rest parameter distinguishes handlers given as undefined (a mistake) from no handlers (a
  // gate).
  ...handlers: unknown[]
): Receiver<object> | Gate<object> {
  return handlers.length === 0 ? createGate(options) : createFullReceiver(options, handlers[0]);
}

function createFullReceiver(options: unknown, handlers: unknown): Receiver<object> {
  const settings = validateSettings(options, 'receiver');
  const { logger, observe, handlerTimeout } = settings;
  const { kinds, decidesStatus, run } = validateHandlers(handlers, settings.kinds, handlerTimeout);
  const explain = createExplainer(logger);
  const proof: Proof = {
    settings: { ...settings, kinds },
    allowsContradiction: decidesStatus,
    explain,
  };
  const reporter = createReporter(observe, logger);
  return {
    async receive(delivery, host) {
      const report = reporter.start();
      try {
        report.event = await verify(proof, delivery, host, report);
        report.end(await run(report.event, host));
        return acknowledge();
      } catch (error) {
        return refuse(error, report);
      }
    },
  };
}

function createGate(options: unknown): Gate<object> {
  const settings = validateSettings(options, 'gate');
  const { logger, observe, unrecognized } = settings;
  const explain = createExplainer(logger);
  const proof: Proof = { settings, allowsContradiction: false, explain };
  const reporter = createReporter(observe, logger);
  return {
    async admit(delivery, host) {
      const report = reporter.start();
      try {
        const event = await verify(proof, delivery, host, report);
        report.event = event;
        const isIgnored = event.type === 'unrecognized' && unrecognized !== 'pass';
        report.end(isIgnored ? 'ignored' : 'handled');
        return isIgnored ? { reply: acknowledge() } : { event };
      } catch (error) {
        return { reply: refuse(error, report) };
      }
    },
  };
}

function verify(
  proof: Proof,
  delivery: Delivery,
  host: object,
  report: DeliveryReport,
): Promise<WebhookEvent> {
  return verifyDelivery(proof, delivery, host, (bytes) => {
    report.bodyBytes = bytes;
  });
}

/**
 * Returns the reply to a WebhookError.
 *
 * @throws every other error, made safe for the host
 */
function refuse(thrown: unknown, report: DeliveryReport): Reply {
  const error = hostError(thrown);
  report.fail(error, report.event !== undefined);
  if (isWebhookError(error)) return errorReply(error);
  throw error;
}
