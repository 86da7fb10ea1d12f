/** Serves the READMEs' receivers unchanged on real sockets. */
import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { paymentWebhook } from '@paylink/express';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { Express } from 'express';
import type { FastifyInstance } from 'fastify';
import type { Hono } from 'hono';
import type Koa from 'koa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { blockOf, runBlock, runServer, serve, type Surroundings } from './blocks.js';

/** Runs the block, and returns its webhook's URL. */
type Serve = (code: string, surroundings: Surroundings) => Promise<string>;

const appOf = async (code: string, surroundings: Surroundings): Promise<unknown> =>
  ((await runBlock(code, { ...surroundings, locals: ['app'] })) as { app: unknown }).app;

const onExpress: Serve = async (code, surroundings) =>
  serve((await appOf(code, surroundings)) as Express as RequestListener);
const onKoa: Serve = async (code, surroundings) =>
  serve(((await appOf(code, surroundings)) as Koa).callback());
const onHono: Serve = async (code, surroundings) =>
  serve(getRequestListener(((await appOf(code, surroundings)) as Hono).fetch));
const onFetch: Serve = async (code, surroundings) => {
  const block = (await runBlock(code, surroundings)) as { default: Pick<Hono, 'fetch'> };
  return serve(getRequestListener(block.default.fetch));
};
const onFastify: Serve = async (code, surroundings) => {
  const app = (await appOf(code, surroundings)) as FastifyInstance;
  onTestFinished(() => app.close());
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks/payments`;
};

const onNext: Serve = async (code, surroundings) => {
  const { POST } = (await runBlock(code, surroundings)) as Record<'POST', Hono['fetch']>;
  return serve(getRequestListener(POST));
};
const onPages: Serve = async (code, surroundings) => {
  const block = (await runBlock(code, surroundings)) as {
    readonly default: RequestListener;
    readonly config: unknown;
  };
  expect(block.config).toEqual({ api: { bodyParser: false } });
  return serve(block.default);
};

it.each<[string, string, Serve]>([
  ['packages/express/README.md', 'await creditOrder', onExpress],
  ['packages/fastify/README.md', 'await creditOrder', onFastify],
  ['packages/koa/README.md', 'await creditOrder', onKoa],
  ['packages/hono/README.md', 'await creditOrder', onHono],
  ['packages/fetch/README.md', 'await creditOrder', onFetch],
  ['packages/node/README.md', 'await creditOrder', runServer],
  ['packages/next/README.md', '{ request, params', onNext],
  ['packages/next/README.md', 'paymentWebhookApi(', onPages],
])(
  'the receiver of %s with "%s" credits only signed deliveries',
  async (page, containing, serveBlock) => {
    const creditOrder = vi.fn(async () => undefined);
    const url = await serveBlock(await blockOf(page, containing), {
      env: { WEBHOOK_SECRET: TEST_SECRET, NODE_ENV: 'test' },
      declared: { creditOrder },
      files: { 'orders.ts': 'export const { creditOrder } = globalThis as never;\n' },
    });
    const forged = signedDelivery({ reference: 'order-1', secret: 'a stranger’s' });
    expect([(await forged.send(url)).status, creditOrder.mock.calls]).toEqual([401, []]);
    expect((await signedDelivery({ reference: 'order-42' }).send(url)).status).toBe(200);
    expect(creditOrder.mock.calls).toEqual([['order-42']]);
  },
);

it('the gate of packages/express/README.md passes only signed deliveries', async () => {
  const url = await onExpress(await blockOf('packages/express/README.md', 'webhookEvent(req)'), {
    env: { WEBHOOK_SECRET: TEST_SECRET },
  });
  expect((await signedDelivery().send(url)).status).toBe(200);
  expect((await signedDelivery({ secret: 'a stranger’s' }).send(url)).status).toBe(401);
});

it('the parser of docs/errors.md keeps the bytes for a webhook behind it', async () => {
  const app = (await appOf(await blockOf('docs/errors.md', 'req.rawBody = buf'), {})) as Express;
  const references: string[] = [];
  app.post(
    '/webhooks/payments',
    paymentWebhook(
      { secret: TEST_SECRET },
      async ({ reference }) => void references.push(reference),
    ),
  );
  const url = await serve(app as RequestListener);
  // Spaces, which a rewritten body would not have.
  expect((await signedDelivery({ rawBody: '{ "reference" : "order-42" }' }).send(url)).status).toBe(
    200,
  );
  expect(references).toEqual(['order-42']);
});

it('the application of packages/nest/README.md credits only signed deliveries', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const tsconfig = JSON.stringify({
    compilerOptions: { experimentalDecorators: true, emitDecoratorMetadata: true },
  });
  const url = await runServer(
    await blockOf('packages/nest/README.md', 'NestFactory.create(AppModule)'),
    {
      env: { WEBHOOK_SECRET: TEST_SECRET },
      files: { 'tsconfig.json': tsconfig },
    },
  );
  expect((await signedDelivery({ secret: 'a stranger’s' }).send(url)).status).toBe(401);
  expect((await signedDelivery({ reference: 'order-42' }).send(url)).status).toBe(200);
  expect(log.mock.calls).toContainEqual(['order-42']);
});
