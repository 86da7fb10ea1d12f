/** Receives a delivery: proof, handler, reply. Every adapter builds on this file. */
import type { Delivery } from './delivery.js';
import { ConfigurationError, fault, isWebhookError, WebhookError } from './errors.js';
import { createRunner, type Handlers, type RunHandler } from './handlers.js';
import { callQuietly } from './logger.js';
import { createSettings } from './options.js';
import type { GateOptions, ReceiverOptions, Settings } from './options.js';
import { keepEvent } from './proven-event.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import { DeliveryReport } from './reporting.js';
import type { EventSchemas, EventTypes, NoEvents, SchemasOf } from './schema.js';
import { requireBytes } from './signature.js';
import { checkHeaders, parseEvent, proveSignature, requireValid } from './verify.js';

/** Turns deliveries into replies. `createReceiver` creates one. */
export interface Receiver<Host> {
  /** Resolves with the reply to write. Never rejects. Merges `host` into the handler's context. */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
}

interface Gate<Host> {
  /**
   * Resolves with undefined if the request can pass. `webhookEvent(holder)` then returns the event.
   * Otherwise resolves with the reply to write. Never rejects.
   *
   * @param holder the host's request or context
   */
  admit(delivery: Delivery, host: Host, holder: object): Promise<Reply | undefined>;
}

/**
 * The type of an adapter's `paymentWebhook`. `More` adds host-specific options.
 *
 * @throws ConfigurationError that names the option or the handler, and the problem
 */
export type PaymentWebhook<Host, Webhook, More = unknown> = <
  const Events extends EventTypes = NoEvents,
>(
  options: ReceiverOptions<SchemasOf<Events>, Host> & More,
  handlers: Handlers<SchemasOf<Events>, Host>,
) => Webhook;

/** The type of an adapter's `paymentGate`. @throws ConfigurationError like `paymentWebhook` */
export type PaymentGate<Host, Gate> = <const Events extends EventTypes = NoEvents>(
  options: GateOptions<SchemasOf<Events>, Host>,
) => Gate;

/** Creates an adapter's receiver. @throws ConfigurationError that names the option or handler */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host> {
  const settings = createSettings(options, 'receiver');
  const run = createRunner(handlers, settings.kinds, settings.handlerTimeout);
  return { receive: (delivery, host) => receiveWith(run, settings, delivery, host) };
}

/**
 * Creates a receiver even without a valid secret. It then answers every delivery with 500
 * `misconfigured` and logs the reason. For hosts whose build loads routes without the environment.
 *
 * @throws ConfigurationError for every other mistake
 */
export const createReceiverOrRefuse: typeof createReceiver = (options, handlers) => {
  try {
    return createReceiver(options, handlers);
  } catch (error) {
    const isSecret = error instanceof ConfigurationError && error.option.startsWith('secret');
    if (!isSecret) throw error;
    const failing = (): never => {
      throw error;
    };
    // Throws again for every mistake but the secret.
    const settings = createSettings({ ...options, secret: failing }, 'receiver');
    createRunner(handlers, settings.kinds, settings.handlerTimeout);
    const refusal = fault('misconfigured', `this route cannot verify (${error.message})`);
    return {
      receive: async () => errorReply(new DeliveryReport(settings).fail(refusal, false)),
    };
  }
};

/** Creates the gate of an adapter, which only verifies. @throws ConfigurationError */
export function createGate<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: GateOptions<Events, Host>): Gate<Host> {
  const settings = createSettings(options, 'gate');
  return {
    async admit(delivery, host, holder) {
      let isAdmitted = false;
      const pass: RunHandler = async (event) => {
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
    const proving = proveSignature(settings, { rawBody, signature, host });
    report.proven = proving instanceof Promise ? await proving : proving;
    report.event = parseEvent(settings, report.proven, kindHeader);
    const event = await requireValid(settings, report.event);
    isHandling = true;
    report.end(await run(event, host));
    return acknowledge();
  } catch (thrown) {
    const isByMerchant = isHandling || !isWebhookError(thrown);
    const reply = errorReply(report.fail(thrown, isByMerchant));
    if (isByMerchant && onError !== undefined) callQuietly(() => onError(thrown, host));
    return reply;
  }
}
