/** Receives a delivery: proof, handler, reply. Every adapter builds on this file. */
import type { Delivery } from './delivery.js';
import { createExplainer } from './diagnosis/explain.js';
import { isWebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { validateHandlers, type Handlers } from './handlers.js';
import { hostError } from './host-error.js';
import {
  validateSettings,
  type GateOptions,
  type ReceiverOptions,
  type Settings,
} from './options.js';
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
 * Makes the receiver of an adapter.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host> {
  const settings = validateSettings(options, 'receiver');
  const { handlerTimeout } = settings;
  const { kinds, decidesStatus, run } = validateHandlers(handlers, settings.kinds, handlerTimeout);
  const proof = proofOf({ ...settings, kinds }, decidesStatus);
  const startReport = createReporter(settings.observe, settings.logger);
  return {
    async receive(delivery, host) {
      const report = startReport();
      let event: WebhookEvent | undefined;
      try {
        event = await verifyDelivery(proof, delivery, host, report);
        report.end(await run(event, host));
        return acknowledge();
      } catch (error) {
        return refuse(error, report, event !== undefined);
      }
    },
  };
}

/**
 * Makes the gate of an adapter.
 *
 * @throws ConfigurationError that names the option and the fault
 */
export function createGate<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: GateOptions<Events, Host>): Gate<Host> {
  const settings = validateSettings(options, 'gate');
  const proof = proofOf(settings, false);
  const startReport = createReporter(settings.observe, settings.logger);
  return {
    async admit(delivery, host) {
      const report = startReport();
      try {
        const event = await verifyDelivery(proof, delivery, host, report);
        const isIgnored = event.type === 'unrecognized' && settings.unrecognized !== 'pass';
        report.end(isIgnored ? 'ignored' : 'handled');
        return isIgnored ? { reply: acknowledge() } : { event };
      } catch (error) {
        return { reply: refuse(error, report, false) };
      }
    },
  };
}

function proofOf(settings: Settings, allowsContradiction: boolean): Proof {
  return { settings, allowsContradiction, explain: createExplainer(settings.logger) };
}

/**
 * Returns the reply to a WebhookError.
 *
 * @throws every other error, made safe for the host
 */
function refuse(thrown: unknown, report: DeliveryReport, byHandler: boolean): Reply {
  const error = hostError(thrown);
  report.fail(error, byHandler);
  if (isWebhookError(error)) return errorReply(error);
  throw error;
}
