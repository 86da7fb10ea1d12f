import { createReceiver, type BodyLimits, type PaymentWebhook } from '@paylink/core';
import { check } from '@paylink/core/internal';
import { copyBody, deliveryOf, writeReply } from '@paylink/node';
import type { FastifyPluginCallback, FastifyRequest, RouteShorthandOptions } from 'fastify';

export { WebhookError, type WebhookEvent } from '@paylink/core';

/** The Fastify request that handlers receive. */
export interface FastifyHost {
  readonly request: FastifyRequest;
}

interface FastifyRoute {
  /** The route's path, under the prefix of the instance that registers the plugin. */
  readonly url: string;
  /** Options of the route, such as hooks, config, logLevel and constraints. */
  readonly routeOptions?: Omit<RouteShorthandOptions, 'schema' | 'handler'> | undefined;
}

const HINT = 'A preParsing or onRequest hook that reads request.raw must keep request.rawBody.';
const TYPE = 'application/octet-stream';
const PATH = "must be a path: app.register(paymentWebhook({ url: '/…', secret }, handlers))";

/**
 * Returns an encapsulated plugin to register. Its route verifies a notification, runs your handler
 * and replies. Sibling routes keep their parsers.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<FastifyHost, FastifyPluginCallback, FastifyRoute> = (
  all,
  handlers,
) => {
  // Removes the prototype, so that a polluted one cannot set an option.
  const { url, routeOptions, ...options } = { __proto__: null, ...all } as typeof all;
  check(typeof url === 'string', 'url', PATH);
  const receiver = createReceiver(options, handlers);

  return (instance, _options, done) => {
    const hostLimit = routeOptions?.bodyLimit ?? instance.initialConfig.bodyLimit ?? Infinity;
    const limit = (by: BodyLimits) => ({ ...by, bodyLimit: Math.min(by.bodyLimit, hostLimit) });
    instance.removeAllContentTypeParsers();
    // Fastify finds the parser of a type directly, and that of '*' by a search for each request.
    instance.addContentTypeParser([TYPE, '*'], (_request, payload, parsed) => {
      // A later hook may destroy it, and nobody reads a stream that a hook put around it.
      payload.on('error', () => undefined);
      parsed(null, undefined);
    });
    // Fastify answers 415 to types that it cannot parse, and treats HTTP/2 without a type as empty.
    instance.addHook('onRequest', ({ raw }, _reply, next) => {
      raw.headers['content-type'] = TYPE;
      next();
    });
    const createLogger = routeOptions?.childLoggerFactory ?? instance.childLoggerFactory;
    // Fastify calls it once it has found the route, before all hooks.
    const childLoggerFactory: typeof createLogger = (logger, bindings, childOptions, raw) => {
      copyBody(raw, hostLimit);
      return createLogger.call(instance, logger, bindings, childOptions, raw);
    };
    instance.post(url, { ...routeOptions, childLoggerFactory }, async (request, reply) => {
      const { raw } = request;
      const rawBody: unknown = Object.getOwnPropertyDescriptor(request, 'rawBody')?.value;
      if (Buffer.isBuffer(rawBody)) Object.assign(raw, { rawBody });
      const read = deliveryOf(raw, HINT);
      const delivery = { ...read, body: (limits: BodyLimits) => read.body(limit(limits)) };
      const answer = await receiver.receive(delivery, { request });
      reply.hijack();
      await writeReply(raw, reply.raw, answer);
    });
    done();
  };
};
