/** Fastify 4 and 5 differ in how they take a logger, so each is a line on this. */
import { format } from 'node:util';
import { paymentWebhook } from '@paylink/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { PATH } from '../deliveries.js';
import { opened, SLOW, type Host, type Listening, type MerchantContext, type Setup } from './host.js';

type Logger = NonNullable<FastifyServerOptions['loggerInstance']>;

/** Makes an application on which nothing is registered. */
export type CreateFastify = (options: { readonly logger: Logger; readonly http2: boolean }) => FastifyInstance;

const FAILURE = '{"error":"the error handler of the app"}';

export function fastifyHost(name: string, create: CreateFastify): Host {
  return {
    name,
    capabilities: {
      gate: false,
      routes: true,
      failure: FAILURE,
      banners: [],
      closes: true,
      responds: 'at once',
      http2: true,
      // Not every method: the plugin has one route, for POST, and Fastify's router answers the others.
      surroundings: ['a naive reader', 'a listener for data', 'a text decoder', 'something slow', 'a mounted router'],
      mend: /No preParsing or onRequest hook may read request\.raw/,
    },
    listen: (setup) => listen(create, setup),
  };
}

async function listen(create: CreateFastify, setup: Setup): Promise<Listening> {
  const { options, surroundings, handler, onError, http2 = false } = setup;
  const app = create({ logger: loggerTo(onError), http2 });
  app.setErrorHandler((error, _request, reply) => {
    onError(error);
    void reply.code(500).type('application/json').send(FAILURE);
  });
  app.addHook('onRequest', (request, _reply, next) => {
    readFirst(surroundings, request, next);
  });

  const webhook = (url: string): ReturnType<typeof paymentWebhook> =>
    paymentWebhook({ ...options, url }, (event, context: { readonly signal: AbortSignal; readonly reply?: FastifyReply }) =>
      handler(event, { signal: context.signal, ...respondingBy(context.reply) }),
    );
  if (surroundings === 'a mounted router') {
    const [, prefix = '', rest = ''] = /^(\/[^/]*)(.*)$/.exec(PATH)!;
    await app.register(
      async (child) => {
        await child.register(webhook(rest));
      },
      { prefix },
    );
  } else {
    await app.register(webhook(PATH));
  }
  await app.ready();
  return opened(app.server, () => app.close());
}

function readFirst({ raw }: FastifyRequest, ...[]: never[]): void;
