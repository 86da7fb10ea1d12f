/** NestJS on both platforms: `rawBody: true`, and a guard on the controller's method. */
import 'reflect-metadata';
import type { Server } from 'node:net';
import { Controller, Module, Post, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { PaymentEvent, PaymentWebhook, type WebhookEvent } from '@paylink/nest';
import { PATH } from '../deliveries.js';
import { listening, type Capabilities, type Host, type Listening, type Setup } from './host.js';

const CAPABILITIES: Capabilities = {
  gate: true,
  routes: true,
  failure: '',
  banners: [],
  fetch: false,
  closes: true,
  parserErrors: 'Node',
  http2: false,
  surroundings: [],
  hint: /rawBody: true/,
};

export const nestHosts: readonly Host[] = [
  {
    name: 'NestJS on Express',
    capabilities: CAPABILITIES,
    listen: (setup) => listen(setup, 'express'),
  },
  {
    name: 'NestJS on Fastify',
    capabilities: CAPABILITIES,
    listen: (setup) => listen(setup, 'fastify'),
  },
];

async function listen(
  { options, handler }: Setup,
  platform: 'express' | 'fastify',
): Promise<Listening> {
  const { secret, bodyLimit, bodyTimeout } = options;

  @Controller()
  class Webhooks {
    @Post(PATH)
    @PaymentWebhook({ secret, bodyLimit, bodyTimeout })
    async receive(@PaymentEvent() event: WebhookEvent) {
      const returned: unknown = await handler(event, {});
      return returned === undefined ? { received: true } : returned;
    }
  }

  @Module({ controllers: [Webhooks] })
  class AppModule {}

  const app = await create(AppModule, platform);
  await app.init();
  if (platform === 'fastify')
    await (app as NestFastifyApplication).getHttpAdapter().getInstance().ready();
  return listening(app.getHttpServer() as Server);
}

function create(module: DynamicModule | (new () => object), platform: 'express' | 'fastify') {
  const settings = { rawBody: true, logger: false } as const;
  if (platform === 'express') return NestFactory.create(module, new ExpressAdapter(), settings);
  const adapter = new FastifyAdapter();
  // As in the README of @paylink/nest, for notifications of every content type.
  const fastify = adapter.getInstance();
  fastify.removeContentTypeParser('text/plain');
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    Object.assign(request, { rawBody: body });
    done(null, body);
  });
  return NestFactory.create<NestFastifyApplication>(module, adapter, settings);
}
