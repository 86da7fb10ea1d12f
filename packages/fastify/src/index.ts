import type { Readable } from 'node:stream';
import { ConfigurationError, createReceiver } from '@paylink/core';
import { createLogger } from '@paylink/core/internal';
import type { EventSchemas, EventTypes, Handlers, Logger } from '@paylink/core';
import type { NoEvents, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';
import type { FastifyPluginCallback, FastifyRequest, RouteShorthandOptions } from 'fastify';

/** The Fastify request, as handlers get it. */
export interface FastifyHost {
  readonly request: FastifyRequest;
}

export interface FastifyWebhookOptions<Events extends EventSchemas> extends ReceiverOptions<
  Events,
  FastifyHost
> {
  /** The route's path, below the prefix of the instance that registers the plugin. */
  readonly url: string;
  /** Options of the route: hooks, config, logLevel, constraints … */
  readonly routeOptions?: Omit<RouteShorthandOptions, 'schema' | 'handler'> | undefined;
}

const REGISTER = "app.register(paymentWebhook({ url: '/webhooks/payments', secret }, handlers))";
const HINT = 'A preParsing or onRequest hook that reads request.raw must pass the bytes on.';

/**
 * Returns an encapsulated plugin to register. Its route verifies a notification before any of your
 * code runs. Sibling routes keep their parsers.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  all: FastifyWebhookOptions<SchemasOf<Events>>,
  handlers: Handlers<SchemasOf<Events>, FastifyHost>,
): FastifyPluginCallback {
  // Catches app.register(paymentWebhook, …), which passes the instance and only reports rejections.
  if ('register' in Object(all)) return Promise.reject(misuse('returns a plugin')) as never;
  // Removes the prototype, so that a polluted one cannot set an option.
  const { url, routeOptions, ...options } = { __proto__: null, ...all } as typeof all;
  if (typeof url !== 'string') throw new ConfigurationError('url', `is missing: ${REGISTER}`);
  const receiverWith = (logger?: Logger, bodyLimit = options.bodyLimit) =>
    createReceiver<SchemasOf<Events>, FastifyHost>({ ...options, logger, bodyLimit }, handlers);
  // Throws for a mistake here, before Fastify loads plugins. Warnings wait until then.
  receiverWith({ ...createLogger(options.logger), warn: () => undefined });

  return (instance, _options, done) => {
    if (typeof instance.addContentTypeParser !== 'function') throw misuse('is a plugin');
    // Fastify's default is 1 MiB, so a smaller limit is one that somebody set.
    const hostLimit = routeOptions?.bodyLimit ?? instance.initialConfig.bodyLimit ?? Infinity;
    const bodyLimit = Math.min(options.bodyLimit ?? 65_536, hostLimit);
    const receiver = receiverWith(options.logger, bodyLimit);
    const stream = Symbol('stream');
    type Kept = FastifyRequest & { [stream]?: Readable };
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser('*', (request, payload, parsed) => {
      // Pauses the stream, so that no other `data` listener gets bytes while hooks run.
      (request as Kept)[stream] = payload.pause();
      parsed(null, undefined);
    });
    // Fastify answers 415 to types that it cannot parse, and treats HTTP/2 without a type as empty.
    instance.addHook('onRequest', ({ raw }, _reply, next) => {
      raw.headers['content-type'] = 'application/octet-stream';
      next();
    });
    instance.post(url, { ...routeOptions }, async (request, reply) => {
      // Uses the bytes that fastify-raw-body or a hook kept.
      const { rawBody } = request as { readonly rawBody?: unknown };
      if (Buffer.isBuffer(rawBody)) Object.assign(request.raw, { rawBody });
      const delivery = deliveryOf(request.raw, HINT, (request as Kept)[stream]);
      const answer = await receiver.receive(delivery, { request });
      reply.hijack();
      await writeReply(request.raw, reply.raw, answer);
    });
    done();
  };
}

const misuse = (problem: string): ConfigurationError =>
  new ConfigurationError('paymentWebhook', `${problem}: ${REGISTER}`);
