/** NestJS on both platforms, with a filter and an interceptor that answer 200. */
import 'reflect-metadata';
import type { Server } from 'node:net';
import { Module, type INestApplication, type NestInterceptor } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { PaymentWebhookModule } from '@paylink/nest';
import { catchError, of } from 'rxjs';
import { PATH } from '../deliveries.js';
import { listening, USUAL, type Host, type Listening, type Setup } from './host.js';

export const [nestExpress, nestFastify] = [
  hostOf('NestJS on Express', 'Node', ['x-powered-by'], (module) =>
    NestFactory.create(module, new ExpressAdapter(), { logger: false }),
  ),
  hostOf('NestJS on Fastify', 'Fastify', [], async (module) => {
    const adapter = new FastifyAdapter();
    const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
      logger: false,
    });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return app;
  }),
];

function hostOf(
  name: string,
  parserErrors: 'Node' | 'Fastify',
  banners: readonly string[],
  create: (module: new () => object) => Promise<INestApplication>,
): Host {
  return {
    name,
    capabilities: {
      ...USUAL,
      banners,
      context: ['req'],
      parserErrors,
      // The module stands in front of Nest's own middleware.
      surroundings: [],
      hint: /Other code must not read the request before paymentWebhook/,
    },
    listen: (setup) => listen(setup, create),
  };
}

async function listen(
  { options, handler, onHostError }: Setup,
  create: (module: new () => object) => Promise<INestApplication>,
): Promise<Listening> {
  const useFactory = () => ({ ...options, url: PATH, handlers: handler });
  @Module({ imports: [PaymentWebhookModule.forRootAsync({ useFactory })] })
  class Shop {}

  const app = await create(Shop);
  const answer = (error: unknown): string => {
    onHostError(error);
    return 'ok';
  };
  const interceptor: NestInterceptor = {
    intercept: (_context, next) => next.handle().pipe(catchError((error) => of(answer(error)))),
  };
  app.useGlobalInterceptors(interceptor);
  app.useGlobalFilters({
    catch(error, host) {
      const response: unknown = host.switchToHttp().getResponse();
      const status = (error as { status?: number }).status === 404 ? 404 : 200;
      app.getHttpAdapter().reply(response, status === 404 ? '' : answer(error), status);
    },
  });
  await app.init();
  const server = app.getHttpServer() as Server;
  return { ...(await listening(server)), close: () => app.close() };
}
