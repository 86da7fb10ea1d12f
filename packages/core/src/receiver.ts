/** Receives a delivery: proof, handler, reply. Every adapter builds on this file. */
import type { Delivery } from './delivery.js';
import { isWebhookError, WebhookError } from './errors.js';
import { createRunner, type Handlers, type RunHandler } from './handlers.js';
import { callQuietly } from './logger.js';
import { validateSettings } from './options.js';
import type { GateOptions, ReceiverOptions, Settings } from './options.js';
import { keepEvent } from './proven-event.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import { DeliveryReport } from './reporting.js';
import type { EventSchemas, EventTypes, NoEvents, SchemasOf } from './schema.js';
import { requireBytes } from './signature.js';
import { checkHeaders, proveEvent } from './verify.js';

export interface Receiver<Host> {
  /** Resolves with the reply to write. Never rejects. `host` joins the handler's context. */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
}

interface Gate<Host> {
  /**
   * Resolves with undefined if the request may pass. `webhookEvent(holder)` then returns the event.
   * Otherwise resolves with the reply to write. Never rejects.
   *
   * @param holder the host's request or context
   */
  admit(delivery: Delivery, host: Host, holder: object): Promise<Reply | undefined>;
}

/**
 * The type of an adapter's `paymentWebhook`. `More` has options of the host.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export type PaymentWebhook<Host, Webhook, More = unknown> = <
  const Events extends EventTypes = NoEvents,
>(
  options: ReceiverOptions<SchemasOf<Events>, Host> & More,
  handlers: Handlers<SchemasOf<Events>, Host>,
) => Webhook;

/** The type of an adapter's `paymentGate`. @throws ConfigurationError as `paymentWebhook` */
export type PaymentGate<Host, Gate> = <const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, Host>,
) => Gate;

/** @throws ConfigurationError that names the option or the handler, and the fault */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host> {
  const settings = validateSettings(options, 'receiver');
  const run = createRunner(handlers, settings.kinds, settings.handlerTimeout);
  return { receive: (delivery, host) => receiveWith(run, settings, delivery, host) };
}

/** @throws ConfigurationError that names the option and the fault */
export function createGate<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: GateOptions<Events, Host>): Gate<Host> {
  const settings = validateSettings(options, 'gate');
  return {
    async admit(delivery, host, holder) {
      let isAdmitted = false;
      const pass: RunHandler = (event) => {
        if (event.type === 'unrecognized' && settings.unrecognized !== 'pass') return 'ignored';
        keepEvent(holder, event);
        isAdmitted = true;
        return 'handled';
      };
      const reply = await receiveWith(pass, settings, delivery, host);
      return isAdmitted ? undefined : reply;
    },
  };
}

/** Verifies a delivery, runs its handler, and reports each fact as soon as it is known. */
async function receiveWith(
  run: RunHandler,
  settings: Settings,
  delivery: Delivery,
  host: object,
): Promise<Reply> {
  const { limits, headers, onError } = settings;
  const report = new DeliveryReport(settings);
  let isHandling = false;
  try {
    const signature = checkHeaders(settings, delivery);
    const rawBody = requireBytes(await delivery.body(limits));
    if (rawBody.length > limits.bodyLimit) throw new WebhookError('body_too_large');
    report.bodyBytes = rawBody.length;
    const kindHeader = delivery.header(headers.event);
    const proving = proveEvent(settings, { rawBody, signature, kindHeader, host, report });
    const event = proving instanceof Promise ? await proving : proving;
    isHandling = true;
    const running = run(event, host);
    report.end(running instanceof Promise ? await running : running);
    return acknowledge();
  } catch (thrown) {
    const isByMerchant = isHandling || !isWebhookError(thrown);
    const reply = errorReply(report.fail(thrown, isByMerchant));
    if (isByMerchant && onError !== undefined) callQuietly(() => onError(thrown, host));
    return reply;
  }
}
