import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Lets no parser of the instance read a body. Gives the stream that preParsing hooks have left of a request's. */
export function leaveUnread(instance: FastifyInstance): (request: FastifyRequest) => Readable | undefined {
  // Not in `request.body`, which a hook may set to anything; nor in a WeakMap of requests, which V8 is slow to collect.
  const payloadKey = Symbol('payload');
  type WithPayload = FastifyRequest & { [payloadKey]?: Readable };
  instance.decorateRequest(payloadKey, null);
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (request, payload, parsed) => {
    (request as WithPayload)[payloadKey] = payload;
    parsed(null, payload);
  });
  // Fastify answers 415 to a type that it cannot read; the contract does not list the header, so it must not matter. Nor is it left out:
  // over HTTP/2 a body needs no length, and Fastify parses what has neither length nor type as no body at all.
  instance.addHook('onRequest', (request, _reply, next) => {
    request.raw.headers['content-type'] = 'application/octet-stream';
    next();
  });
  return (request) => (request as WithPayload)[payloadKey] ?? undefined;
}
