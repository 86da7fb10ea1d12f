import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { createGate, type PaymentGate } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';

/** The argument of the guard's `secret` function. */
export interface NestGateHost {
  readonly context: ExecutionContext;
}

/** On Fastify, Nest passes Fastify's own objects, and keeps the bytes on that request. */
type Request = IncomingMessage & { readonly raw?: Request };
type Response = ServerResponse & { readonly raw?: ServerResponse };

export const HINT =
  'Let Nest keep the bytes: NestFactory.create(AppModule, { rawBody: true }), and in tests ' +
  "createNestApplication({ rawBody: true }). Swap app.use(json()) for app.useBodyParser('json')";

/**
 * Creates a guard that verifies a notification before your method runs. The guard also answers
 * rejected requests and, unless `unrecognized` is `'pass'`, events of unrecognized kinds.
 */
export const paymentGate: PaymentGate<NestGateHost, CanActivate> = (options) => {
  const gate = createGate(options);
  return {
    async canActivate(context) {
      const request = context.switchToHttp().getRequest<Request>();
      const { raw = request } = request;
      const rawBody: unknown = Object.getOwnPropertyDescriptor(request, 'rawBody')?.value;
      if (Buffer.isBuffer(rawBody)) Object.assign(raw, { rawBody });
      const reply = await gate.admit(deliveryOf(raw, HINT), { context }, request);
      if (reply === undefined) return true;
      const response = context.switchToHttp().getResponse<Response>();
      await writeReply(raw, response.raw ?? response, reply);
      return new Promise(() => undefined); // Nest would write a second reply.
    },
  };
};
