import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyDecorators, createParamDecorator, HttpCode, HttpException } from '@nestjs/common';
import { Logger, UseGuards, UseInterceptors } from '@nestjs/common';
import type { CanActivate, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { isWebhookError } from '@paylink/core';
import { errorReply, failureOf, logLine } from '@paylink/core/internal';
import { webhookEvent } from '@paylink/core';
import type { EventSchemas, GateOptions } from '@paylink/core';
import { createGate, writeReply, type NodeGate } from '@paylink/node';
import { catchError, tap } from 'rxjs';

export type { WebhookEvent } from '@paylink/core';

/** The context of a `secret` function in Nest. */
export interface NestHost {
  readonly context: ExecutionContext;
}

export type NestWebhookOptions = GateOptions<EventSchemas, NestHost>;

/** Node's request, which both platforms extend, with the bytes that Nest keeps. */
type PlatformRequest = IncomingMessage & { rawBody?: unknown; readonly raw?: PlatformRequest };
type PlatformResponse = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

const BODY_CONSUMED_HINT =
  'Let Nest keep the bytes: NestFactory.create(AppModule, { rawBody: true }), in tests ' +
  "createNestApplication({ rawBody: true }). Replace app.use(json()) by app.useBodyParser('json')";

/**
 * Verifies a notification before the method runs, and answers refusals and signed events of other
 * kinds. Use `PaymentWebhook`, because a guard cannot see the method's result or error.
 */
export class PaymentWebhookGuard implements CanActivate {
  readonly #admit: NodeGate<NestHost>;

  constructor(options: NestWebhookOptions) {
    this.#admit = createGate(options, BODY_CONSUMED_HINT);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const req = requestOf(context);
    const reply = await this.#admit(req, { context });
    if (reply === undefined) return true;
    const response = context.switchToHttp().getResponse<PlatformResponse>();
    response.hijack?.();
    await writeReply(req, response.raw ?? response, reply);
    // If this promise settled, Nest would write a second reply.
    return new Promise(() => undefined);
  }
}

const judge: NestInterceptor = {
  intercept: (context, next) =>
    next.handle().pipe(
      tap(requireSuccess),
      catchError((thrown) => fail(thrown, context)),
    ),
};

function requireSuccess(value: unknown): void {
  const failure = failureOf(value);
  if (failure !== undefined) throw failure;
}

function fail(thrown: unknown, context: ExecutionContext): never {
  // The controller answers with its own HttpException.
  if (thrown instanceof HttpException && thrown.getStatus() >= 400) throw thrown;
  if (isWebhookError(thrown)) {
    // Nest logs every other error, but no HttpException.
    new Logger('PaymentWebhook').error(logLine(thrown, webhookEvent(requestOf(context))));
    const response = context.switchToHttp().getResponse<PlatformResponse>();
    (response.raw ?? response).setHeaders(new Map(Object.entries(errorReply(thrown).headers)));
    throw new HttpException({ error: thrown.code }, thrown.status);
  }
  // Nest sends the message of an error that has a status.
  throw new Error('the controller failed', { cause: thrown });
}

/**
 * Verifies a notification before the method runs, and answers 200 when the method returns.
 *
 * @param webhook the guard's options, or a class that extends `PaymentWebhookGuard`
 */
export function PaymentWebhook(
  webhook: NestWebhookOptions | Type<PaymentWebhookGuard>,
): MethodDecorator {
  const guard = typeof webhook === 'function' ? webhook : new PaymentWebhookGuard(webhook);
  return applyDecorators(HttpCode(200), UseGuards(guard), UseInterceptors(judge));
}

/** Passes the proven event to a parameter. @throws ConfigurationError if the route has no gate */
export const PaymentEvent = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  webhookEvent(requestOf(context)),
);

function requestOf(context: ExecutionContext): IncomingMessage {
  const request = context.switchToHttp().getRequest<PlatformRequest>();
  // On Fastify, Nest keeps the bytes on Fastify's own request.
  if (request.raw !== undefined) request.raw.rawBody ??= request.rawBody;
  return request.raw ?? request;
}
