import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyDecorators, createParamDecorator, HttpCode, UseGuards, UseInterceptors } from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ConfigurationError, type EventSchemas, type GateOptions, type WebhookEvent } from '@paylink/core';
import { createGate, provenEvent, writeReply, type NodeGate } from '@paylink/node';
import { refuseSuccess } from './refuse-success.js';

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

const BODY_CONSUMED_HINT =
  'Let Nest keep the bytes: NestFactory.create(AppModule, { rawBody: true }). It keeps those of JSON and of forms, and of no other type';

/**
 * Verifies a notification before the controller's method runs, on Express and on Fastify. Refusals, and signed events of kinds
 * that are not configured, are answered here: no exception filter sees them. Can be extended, to inject what the options need.
 *
 * @throws ConfigurationError that names the option and the fault.
 */
export class PaymentWebhookGuard implements CanActivate {
  readonly #gate: NodeGate<unknown, NestHost>;

  constructor(options: NestWebhookOptions) {
    this.#gate = createGate(options, BODY_CONSUMED_HINT);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const req = requestOf(context);
    const reply = await this.#gate.admit(req, { context });
    if (reply === undefined) return true;
    const response = context.switchToHttp().getResponse<PlatformResponse>();
    response.hijack?.();
    writeReply(req, response.raw ?? response, reply);
    // The reply is written. If this settled, Nest would write another one: by an exception filter, which fails.
    return new Promise(() => undefined);
  }
}

/** Makes the guard for `@UseGuards(…)`. @throws ConfigurationError that names the option and the fault. */
export function paymentWebhookGuard(options: NestWebhookOptions): PaymentWebhookGuard {
  return new PaymentWebhookGuard(options);
}

/**
 * Proves a notification before the method runs, and answers 200 when it returns. Nest answers a plain error with the status that it
 * carries: one below 400, as an HTTP client's error of a 200 reply has, becomes 500 here, so that no failed credit is acknowledged.
 * A guard alone cannot see what the method throws.
 *
 * @param webhook the options of a guard, or a class that extends `PaymentWebhookGuard`, which Nest makes with its dependencies
 * @throws ConfigurationError that names the option and the fault.
 */
export function PaymentWebhook(webhook: NestWebhookOptions | Type<PaymentWebhookGuard>): MethodDecorator {
  const guard = typeof webhook === 'function' ? webhook : paymentWebhookGuard(webhook);
  return applyDecorators(HttpCode(200), UseGuards(guard), UseInterceptors(refuseSuccess));
}

/** Gives a parameter the event that a guard proved. @throws ConfigurationError when no guard is in front: it fails closed. */
export const PaymentEvent = createParamDecorator((_data: unknown, context: ExecutionContext): WebhookEvent => {
  const event = provenEvent(requestOf(context));
  if (event !== undefined) return event;
  throw new ConfigurationError('PaymentEvent', 'found no verified event: put @PaymentWebhook({ secret }) above the method');
});

function requestOf(context: ExecutionContext): IncomingMessage {
  const request = context.switchToHttp().getRequest<PlatformRequest>();
  const { raw } = request;
  if (raw === undefined) return request;
  // On Fastify the bytes are on its own request, and what is read is Node's.
  raw.rawBody ??= request.rawBody;
  return raw;
}
