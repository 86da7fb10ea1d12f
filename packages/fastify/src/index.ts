import { createReceiver, type ConfirmedPayment, type EventSchemas, type EventTypes } from '@paylink/core';
import type { HostContext, NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import { deliveryOf, writeReply } from '@paylink/node';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { checkInstance, checkUrl, muted, notAPlugin } from './check-use.js';
import { leaveUnread } from './unread-body.js';
import { watchSend } from './watch-send.js';

/** What a handler is given of Fastify. With `idempotency` no `reply`: nothing may be sent before the commit. */
export type FastifyHost<Scope = never> = HostContext<Scope, { readonly request: FastifyRequest }, { readonly reply: FastifyReply }>;

export interface FastifyWebhookOptions<
  Events extends EventSchemas,
  Payment extends ConfirmedPayment,
  Scope extends object,
> extends ReceiverOptions<Events, Payment, Scope, FastifyHost<Scope>> {
  /** The route's path, under the prefix of whatever the plugin is registered in. */
  readonly url: string;
  /** Options of the route: hooks, config, logLevel, constraints … */
  readonly routeOptions?: Omit<RouteShorthandOptions, 'schema' | 'handler'> | undefined;
}

const BODY_CONSUMED_HINT = 'No preParsing or onRequest hook may read request.raw of this route, unless it hands the bytes on.';

/**
 * Makes an encapsulated plugin with one route that verifies a notification before any code of yours runs. Sibling routes keep
 * their parsers. What a handler throws goes to Fastify's error handler.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  all: FastifyWebhookOptions<SchemasOf<Events>, Payment, Scope>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, FastifyHost<Scope>>,
): FastifyPluginCallback {
  if ('register' in Object(all)) return notAPlugin() as never;
  checkUrl(all);
  const { url, routeOptions, ...options } = all;
  const receiverWith = (own: Pick<typeof options, 'logger' | 'bodyLimit'>) =>
    createReceiver<SchemasOf<Events>, Payment, Scope, FastifyHost<Scope>>({ ...options, ...own }, handlers);
  // Here as well, without its log, so that a mistake throws where it was made and not when Fastify loads its plugins.
  receiverWith({ logger: muted(options.logger) });

  return (instance, _options, done) => {
    checkInstance(instance);
    // The smaller limit is one that was set: Fastify's own is 1 MiB.
    const hostLimit = routeOptions?.bodyLimit ?? instance.initialConfig.bodyLimit ?? Infinity;
    const bodyLimit = Math.min(options.bodyLimit ?? 65_536, hostLimit);
    const { logger = instance.log } = options;
    const receiver = receiverWith({ logger, bodyLimit });
    const streamOf = leaveUnread(instance);
    instance.post(url, { ...routeOptions }, async (request, reply) => {
      const delivery = deliveryOf(request.raw, BODY_CONSUMED_HINT, streamOf(request));
      const { statusCode } = reply;
      const isSending = watchSend(reply);
      const answer = await receiver.receive(delivery, { request }, { reply }).catch(async (error: unknown) => {
        if (isSending()) await reply;
        else endTaken(reply);
        // Fastify's own error handler, and no other, puts the message of an error into the reply.
        const handledByFastify = routeOptions?.errorHandler === undefined && instance.errorHandler.name === 'defaultErrorHandler';
        throw handledByFastify ? new Error('the webhook handler failed', { cause: error }) : error;
      });
      if (isSending() || (reply.sent && answer.status === 200)) return reply;
      // A status that the handler set is its answer, as in any route of Fastify, with what it returned for a body.
      if (reply.statusCode !== statusCode && answer.status === 200) return answer.value;
      reply.hijack();
      writeReply(request.raw, reply.raw, answer);
      return undefined;
    });
    done();
  };
}

/** Fastify leaves a response open that the handler took over, and its version 4 would write the head of a begun one again. */
function endTaken(reply: FastifyReply): void {
  const isTaken = reply.sent || reply.raw.headersSent;
  if (isTaken && !reply.raw.writableEnded) reply.hijack().raw.destroy();
}
