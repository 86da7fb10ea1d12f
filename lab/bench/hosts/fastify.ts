import type { Server } from 'node:http';
import { paymentWebhook } from '@paylink/fastify';
import fastify, { type FastifyInstance } from 'fastify';
import rawBody from 'fastify-raw-body';
import { isSigned } from '../by-hand.js';
import { SECRET, URL_PATH } from '../delivery.js';
import type { Host } from './host.js';
import { credit, handlers } from './merchant.js';

export const host: Host = {
  bare() {
    const app = draining();
    app.post(URL_PATH, (_request, reply) => reply.send({ received: true }));
    return serve(app);
  },
  async 'by hand'() {
    const app = fastify();
    await app.register(rawBody, { global: false, encoding: false, runFirst: true });
    app.post<{ Body: { reference: string } }>(
      URL_PATH,
      { config: { rawBody: true } },
      (request, reply) => {
        const { 'x-service-signature': signature, 'x-service-event': kind } = request.headers;
        if (!isSigned(request.rawBody as Buffer, String(signature), SECRET)) {
          return reply.code(401).send({ error: 'invalid_signature' });
        }
        // Fastify has already parsed the body.
        if (kind === 'payment.succeeded') credit(request.body.reference);
        return reply.send({ received: true });
      },
    );
    return serve(app);
  },
  async paylink() {
    const app = fastify();
    await app.register(paymentWebhook({ secret: SECRET, url: URL_PATH }, handlers));
    return serve(app);
  },
};

/** Reads each body to its end and discards it. */
function draining(): FastifyInstance {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume().on('end', () => {
      done(null);
    });
  });
  return app;
}

async function serve(app: FastifyInstance): Promise<Server> {
  await app.ready();
  return app.server;
}
