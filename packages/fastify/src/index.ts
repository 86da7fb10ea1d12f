import type { Readable } from 'node:stream';
import { ConfigurationError, createReceiver, createLogger } from '@paylink/core';
import type { EventSchemas, EventTypes, Handlers, Logger } from '@paylink/core';
import type { NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';
import type { FastifyPluginCallback, FastifyRequest, RouteShorthandOptions } from 'fastify';

/** The request's side of Fastify that a handler gets. */
export interface FastifyHost {
  readonly request: FastifyRequest;
}

export interface FastifyWebhookOptions<Events extends EventSchemas> extends ReceiverOptions<
  Events,
  FastifyHost
> {
  /** The route's path, under the prefix of the instance that the plugin is registered in. */
  readonly url: string;
  /** Options of the route: hooks, config, logLevel, constraints … */
  readonly routeOptions?: Omit<RouteShorthandOptions, 'schema' | 'handler'> | undefined;
}

const REGISTER = "app.register(paymentWebhook({ url: '/webhooks/payments', secret }, handlers))";
const HINT = 'No preParsing or onRequest hook may read request.raw, unless it passes the bytes on.';

/**
 * Returns an encapsulated plugin: call it and register the result. Its route verifies a notification
 * before any of your code runs. Sibling routes keep their parsers, and Fastify gets a handler's error.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  all: FastifyWebhookOptions<SchemasOf<Events>>,
  handlers: Handlers<SchemasOf<Events>, FastifyHost>,
): FastifyPluginCallback {
  // For app.register(paymentWebhook, …), which calls it with the instance and takes a rejection only.
  if ('register' in Object(all)) return Promise.reject(misuse('returns a plugin')) as never;
  // Without a prototype, so that a polluted one sets no option.
  const { url, routeOptions, ...options } = { __proto__: null, ...all } as typeof all;
  if (typeof url !== 'string') throw new ConfigurationError('url', `is missing: ${REGISTER}`);
  const receiverWith = (logger: Logger, bodyLimit = options.bodyLimit) =>
    createReceiver<SchemasOf<Events>, FastifyHost>({ ...options, logger, bodyLimit }, handlers);
  // A mistake throws here, and not when Fastify loads its plugins. Without a log, which comes later.
  receiverWith({ ...createLogger(options.logger), warn: () => undefined });

  return (instance, _options, done) => {
    if (typeof instance.addContentTypeParser !== 'function') throw misuse('is a plugin');
    // The smaller limit is the one that somebody set: Fastify's own default is 1 MiB.
    const hostLimit = routeOptions?.bodyLimit ?? instance.initialConfig.bodyLimit ?? Infinity;
    const bodyLimit = Math.min(options.bodyLimit ?? 65_536, hostLimit);
    const receiver = receiverWith(options.logger ?? loggerOf(instance.log), bodyLimit);
    const stream = Symbol('stream');
    type Kept = FastifyRequest & { [stream]?: Readable };
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser('*', (request, payload, parsed) => {
      // Paused, so that no byte flows past the handler to another `data` listener while hooks run.
      (request as Kept)[stream] = payload.pause();
      parsed(null, undefined);
    });
    // Fastify answers 415 to types that it cannot parse, and takes HTTP/2 without a type for empty.
    instance.addHook('onRequest', ({ raw }, _reply, next) => {
      raw.headers['content-type'] = 'application/octet-stream';
      next();
    });
    instance.post(url, { ...routeOptions }, async (request, reply) => {
      // Bytes that fastify-raw-body or a hook kept.
      const { rawBody } = request as { readonly rawBody?: unknown };
      if (Buffer.isBuffer(rawBody)) Object.assign(request.raw, { rawBody });
      const delivery = deliveryOf(request.raw, HINT, (request as Kept)[stream]);
      const answer = await receiver.receive(delivery, { request }).catch((error: unknown) => {
        // Fastify's default error handler, and no other, sends the message of an error.
        const isDefault = instance.errorHandler.name === 'defaultErrorHandler';
        if (!isDefault || routeOptions?.errorHandler !== undefined) throw error;
        throw new Error('the webhook handler failed', { cause: error });
      });
      reply.hijack();
      await writeReply(request.raw, reply.raw, answer);
    });
    done();
  };
}

/** Pino takes the fields first. */
const loggerOf = (log: FastifyRequest['log']): Logger => ({
  warn: (message, fields) => log.warn(fields ?? {}, message),
  error: (message, fields) => log.error(fields ?? {}, message),
});

const misuse = (problem: string): ConfigurationError =>
  new ConfigurationError('paymentWebhook', `${problem}: ${REGISTER}`);
