import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ConfigurationError, createReceiver, type EventSchemas, type Gate, type GateOptions } from '@paylink/core';
import type { NoEvents, WebhookEvent } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';

export type { ConfiguredEvent, WebhookEvent } from '@paylink/core';

/** What a function that gives the secret is given of Nest. */
export interface NestHost {
  readonly context: ExecutionContext;
}

export type NestWebhookOptions = GateOptions<EventSchemas, NestHost, 'pass' | undefined>;

/** Node's own request, which both platforms build on, with the bytes that Nest keeps under `rawBody: true`. */
type Kept = IncomingMessage & { rawBody?: unknown };
type PlatformRequest = Kept & { readonly raw?: Kept };
type PlatformResponse = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

const MEND = 'Let Nest keep the bytes: NestFactory.create(AppModule, { rawBody: true })';

// Beside the request and not on it: nothing that a parser or a merchant's code writes there can pass for an event.
const events = new WeakMap<IncomingMessage, WebhookEvent>();

/**
 * Verifies a notification before the controller's method runs, on Express and on Fastify. Refusals, and signed events of kinds
 * that are not configured, are answered here: no exception filter sees them. Can be extended, to inject what the options need.
 *
 * @throws ConfigurationError that names the option and the fault.
 */
export class PaymentWebhookGuard implements CanActivate {
  readonly #gate: Gate<WebhookEvent, NoEvents, NestHost>;

  constructor(options: NestWebhookOptions) {
    this.#gate = createReceiver(options as GateOptions<NoEvents, NestHost, 'pass' | undefined>);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const req = requestOf(context);
    const { event, reply } = await this.#gate.admit(deliveryOf(req, MEND), { context });
    if (reply === undefined) {
      events.set(req, event);
      return true;
    }
    const response = context.switchToHttp().getResponse<PlatformResponse>();
    response.hijack?.();
    writeReply(req, response.raw ?? response, reply);
    // It is answered. Whatever this came to, Nest would answer again: false and an error by an exception filter, which fails.
    return new Promise(() => undefined);
  }
}

/** Makes the guard for `@UseGuards(…)`. @throws ConfigurationError that names the option and the fault. */
export function paymentWebhookGuard(options: NestWebhookOptions): PaymentWebhookGuard {
  return new PaymentWebhookGuard(options);
}

/** Gives a parameter the event that a guard proved. @throws ConfigurationError when no guard is in front: it fails closed. */
export const PaymentEvent = createParamDecorator((_data: unknown, context: ExecutionContext): WebhookEvent => {
  const event = events.get(requestOf(context));
  if (event !== undefined) return event;
  throw new ConfigurationError('PaymentEvent', 'found no verified event: put @UseGuards(paymentWebhookGuard({ secret })) above it');
});

function requestOf(context: ExecutionContext): IncomingMessage {
  const request = context.switchToHttp().getRequest<PlatformRequest>();
  const { raw } = request;
  if (raw === undefined) return request;
  // Fastify's request has the bytes, where Node's is what is read.
  raw.rawBody ??= request.rawBody;
  return raw;
}
