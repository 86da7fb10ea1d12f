/** Receives a delivery: proof, handler, reply. Every adapter builds on this file. */
import type { Delivery } from './delivery.js';
import { isWebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { createRunner, type Handlers } from './handlers.js';
import { callQuietly } from './logger.js';
import { validateSettings } from './options.js';
import type { GateOptions, ReceiverOptions, Settings } from './options.js';
import { acknowledge, errorReply, type Reply } from './reply.js';
import { DeliveryReport, RefusalLog } from './reporting.js';
import type { EventSchemas, NoEvents } from './schema.js';
import { checkHeaders, parseSigned, proveBody, requireRawBody, toEvent } from './verify.js';

export interface Receiver<Host> {
  /** Resolves with the reply to write. Never rejects. `host` joins the handler's context. */
  receive(delivery: Delivery, host: Host): Promise<Reply>;
}

export interface Gate<Host> {
  /** Resolves with the proven event, or with the reply to write instead. Never rejects. */
  admit(delivery: Delivery, host: Host): Promise<Admission>;
}

export type Admission =
  | { readonly event: WebhookEvent; readonly reply?: never }
  | { readonly reply: Reply; readonly event?: never };

/** @throws ConfigurationError that names the option or the handler, and the fault */
export function createReceiver<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host> {
  const settings = validateSettings(options, 'receiver');
  const { onError } = settings;
  const run = createRunner(handlers, settings.kinds, settings.handlerTimeout);
  const refusals = new RefusalLog(settings.logger);
  return {
    async receive(delivery, host) {
      const report = new DeliveryReport(settings, refusals);
      let isHandling = false;
      try {
        const event = await verifyDelivery(settings, delivery, host, report);
        isHandling = true;
        const outcome = run(event, host);
        report.end(outcome instanceof Promise ? await outcome : outcome);
        return acknowledge();
      } catch (thrown) {
        const isByMerchant = isHandling || !isWebhookError(thrown);
        const reply = errorReply(report.fail(thrown, isByMerchant));
        if (isByMerchant && onError !== undefined) callQuietly(() => onError(thrown, host));
        return reply;
      }
    },
  };
}

/** @throws ConfigurationError that names the option and the fault */
export function createGate<
  const Events extends EventSchemas = NoEvents,
  Host extends object = object,
>(options: GateOptions<Events, Host>): Gate<Host> {
  const settings = validateSettings(options, 'gate');
  const refusals = new RefusalLog(settings.logger);
  return {
    async admit(delivery, host) {
      const report = new DeliveryReport(settings, refusals);
      try {
        const event = await verifyDelivery(settings, delivery, host, report);
        const isIgnored = event.type === 'unrecognized' && settings.unrecognized !== 'pass';
        report.end(isIgnored ? 'ignored' : 'handled');
        return isIgnored ? { reply: acknowledge() } : { event };
      } catch (error) {
        return { reply: errorReply(report.fail(error, !isWebhookError(error))) };
      }
    },
  };
}

/** Verifies a delivery, and reports each fact as soon as it is known. */
async function verifyDelivery(
  settings: Settings,
  delivery: Delivery,
  host: unknown,
  report: DeliveryReport,
): Promise<WebhookEvent> {
  const signature = checkHeaders(settings, delivery);
  const rawBody = requireRawBody(settings, await delivery.body(settings.limits));
  report.bodyBytes = rawBody.length;
  const proving = proveBody(settings, rawBody, signature, host);
  const proof = proving instanceof Promise ? await proving : proving;
  const { secretIndex } = proof;
  report.proven = { secretIndex };
  const parsed = parseSigned(settings, proof.rawBody, delivery.header(settings.headers.event));
  const { kind, type, payload } = parsed;
  report.proven = { secretIndex, kind, type, reference: payload.reference };
  return toEvent(settings, proof, parsed);
}
