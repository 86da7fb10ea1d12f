/** The tests of both majors of Nest, each on both platforms. */
import { once } from 'node:events';
import http, { type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { INestApplication, Type } from '@nestjs/common';
import type { NoEvents } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { paymentGate, PaymentWebhookModule, webhookEvent } from '../src/index.js';
import type { WebhookEvent } from '../src/index.js';
import type { NestWebhook } from '../src/module.js';
import type * as nest11 from './nest-11.js';

const secret = TEST_SECRET;
const url = '/webhooks/payments';
type GateOptions = Partial<Parameters<typeof paymentGate>[0]>;
const forgedBy = 'a-secret-of-nobody';

export function testNest(version: string, nest: typeof nest11): void {
  const { common, core, ExpressAdapter, FastifyAdapter, Test } = nest;
  const { Controller, Get, Injectable, Module, Post, Req, UseGuards } = common;

  const running: { close(): Promise<unknown> }[] = [];
  const log = { warn: vi.fn<(line: string) => void>(), error: vi.fn<(line: string) => void>() };
  let credited: string[];
  beforeEach(() => {
    credited = [];
    log.warn.mockReset();
    log.error.mockReset();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });

  @Injectable()
  class Orders {
    credit(reference: string): void {
      credited.push(reference);
    }
  }

  @Module({ providers: [Orders], exports: [Orders] })
  class OrdersModule {}

  @Controller()
  class Site {
    @Get('health')
    health() {
      return 'up';
    }

    @Post('echo')
    echo(@Req() { body }: { body: unknown }) {
      return body;
    }
  }

  type Webhook = NestWebhook<NoEvents>;

  /** An application with one webhook. */
  function appWith(useFactory: () => Webhook | Promise<Webhook>): Type {
    @Module({ imports: [PaymentWebhookModule.forRootAsync({ useFactory })] })
    class App {}
    return App;
  }

  const webhook = PaymentWebhookModule.forRootAsync({
    imports: [OrdersModule],
    inject: [Orders],
    useFactory: (orders: Orders) => ({
      url,
      secret,
      logger: log,
      handlers: ({ reference }: WebhookEvent) => orders.credit(reference),
    }),
  });

  @Module({ imports: [webhook], controllers: [Site] })
  class Shop {}

  describe.each(['Express', 'Fastify'])(`${version} on %s`, (platform) => {
    const adapter = () => (platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter());

    async function listen(app: INestApplication): Promise<string> {
      running.push(app);
      await app.listen(0, '127.0.0.1');
      const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
      return `http://127.0.0.1:${port}`;
    }

    // Nest 10 tells a module of a test of its application only behind the parsers.
    const ofTest = { rawBody: version === 'Nest 10' };
    const create = (module: Type): Promise<INestApplication> =>
      core.NestFactory.create(module, adapter(), { logger: false, abortOnError: false });

    /** Sends a genuine and a forged delivery. */
    async function expectWebhookAt(origin: string, path = url): Promise<void> {
      const genuine = await signedDelivery({ secret }).send(`${origin}${path}`);
      expect([genuine.status, await genuine.text()]).toEqual([200, '{"received":true}']);
      const forged = await signedDelivery({ secret: forgedBy }).send(`${origin}${path}`);
      expect([forged.status, await forged.text()]).toEqual([401, '{"error":"invalid_signature"}']);
    }

    describe('PaymentWebhookModule', () => {
      it('answers in front of the parsers, which the other routes keep', async () => {
        const origin = await listen(await create(Shop));
        await expectWebhookAt(origin);
        expect(credited).toEqual(['order-42']);
        const headers = { 'content-type': 'application/json' };
        const echo = await fetch(`${origin}/echo`, { method: 'POST', headers, body: '{"a":1}' });
        expect(await echo.json()).toEqual({ a: 1 });
        expect(await (await fetch(`${origin}/health`)).text()).toBe('up');
      });

      it('answers in an application of a testing module', async () => {
        const module = await Test.createTestingModule({ imports: [Shop] })
          .overrideProvider(Orders)
          .useValue({ credit: (reference: string) => credited.push(`${reference} of the test`) })
          .compile();
        await expectWebhookAt(await listen(module.createNestApplication(adapter(), ofTest)));
        expect(credited).toEqual(['order-42 of the test']);
      });

      if (version === 'Nest 10' && platform === 'Express') {
        it('answers 500 in a test without `rawBody: true`, and the log says which line to add', async () => {
          const module = await Test.createTestingModule({ imports: [Shop] }).compile();
          const origin = await listen(module.createNestApplication(adapter()));
          expect((await signedDelivery({ secret }).send(`${origin}${url}`)).status).toBe(500);
          expect(log.error.mock.calls.join()).toContain('createNestApplication({ rawBody: true })');
        });
      }

      it('ignores the global prefix and versions', async () => {
        const app = await create(Shop);
        app.setGlobalPrefix('api').enableVersioning();
        const origin = await listen(app);
        await expectWebhookAt(origin);
        expect((await signedDelivery({ secret }).send(`${origin}/api${url}`)).status).toBe(404);
      });

      it('gives a handler no way to answer', { tags: 'O09' }, async () => {
        const handlers = (_event: WebhookEvent, { req }: { req: IncomingMessage }) => {
          (req as IncomingMessage & { res: { json(body: object): void } }).res.json({});
        };
        const app = await create(appWith(() => ({ url, secret, logger: log, handlers })));
        const reply = await signedDelivery({ secret }).send(`${await listen(app)}${url}`);
        expect([reply.status, await reply.text()]).toEqual([500, '{"error":"handler_failed"}']);
      });

      if (platform === 'Fastify') {
        it('keeps other code from a second reply while a refused sender still uploads', async () => {
          const platformAdapter = new FastifyAdapter();
          const fastify = platformAdapter.getInstance<FastifyInstance>();
          const onSend = vi.fn(async () => undefined);
          let late: FastifyReply | undefined;
          fastify.addHook('onRequest', async (_request, reply) => void (late = reply));
          fastify.addHook('onSend', onSend);
          const app = await core.NestFactory.create(Shop, platformAdapter, { logger: false });
          const request = http.request(`${await listen(app)}${url}`, { method: 'POST' });
          request.write('the first piece');
          const [response] = (await once(request, 'response')) as [IncomingMessage];
          expect(response.statusCode).toBe(401);
          await late!.code(503).send({ error: 'too slow' });
          expect(onSend).not.toHaveBeenCalled();
          request.destroy();
        });

        it('loses no delivery to a `data` listener, and copies no more than the limit', async () => {
          const platformAdapter = new FastifyAdapter({ bodyLimit: 1_000 });
          platformAdapter.getInstance<FastifyInstance>().addHook('onRequest', ({ raw }) =>
            once(
              raw.on('data', () => undefined),
              'end',
            ),
          );
          const app = await core.NestFactory.create(Shop, platformAdapter, { logger: false });
          const origin = await listen(app);
          await expectWebhookAt(origin);
          const push = vi.spyOn(Readable.prototype, 'push');
          const upload = signedDelivery({ secret, rawBody: Buffer.alloc(1_000_000) });
          expect((await upload.send(`${origin}${url}`)).status).toBe(413);
          const lengths = push.mock.calls.map(([piece]: readonly unknown[], index) =>
            push.mock.contexts[index]!.constructor === Readable
              ? ((piece as Buffer | null)?.length ?? 0)
              : 0,
          );
          push.mockRestore();
          expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(200_000);
        });

        it('makes its loggers by the childLoggerFactory of the application', async () => {
          const platformAdapter = new FastifyAdapter();
          const factory = vi.fn((logger: FastifyBaseLogger) => logger);
          platformAdapter.getInstance<FastifyInstance>().setChildLoggerFactory(factory);
          const app = await core.NestFactory.create(Shop, platformAdapter, { logger: false });
          await expectWebhookAt(await listen(app));
          expect(factory).toHaveBeenCalledTimes(2);
        });
      }

      it('is not reached by a global guard or filter', { tags: 'P13' }, async () => {
        const seen: unknown[] = [];
        const handlers = () => Promise.reject(new Error('the stock is empty'));
        const app = await create(appWith(() => ({ url, secret, logger: log, handlers })));
        app.useGlobalGuards({ canActivate: (context) => seen.push(context) > 0 });
        app.useGlobalFilters({ catch: (error) => void seen.push(error) });
        const reply = await signedDelivery({ secret }).send(`${await listen(app)}${url}`);
        expect([reply.status, await reply.text()]).toEqual([500, '{"error":"handler_failed"}']);
        expect(seen).toEqual([]);
      });

      it('mounts two webhooks of one application that look alike', async () => {
        const mounted = ['/acme', '/bolt'].map((each) =>
          PaymentWebhookModule.forRootAsync({
            useFactory: () => ({ url: each, secret, logger: log, handlers: () => undefined }),
          }),
        );
        const module = await Test.createTestingModule({ imports: mounted }).compile();
        const tested = await listen(module.createNestApplication(adapter(), ofTest));

        @Module({ imports: mounted })
        class Both {}

        for (const origin of [tested, await listen(await create(Both))]) {
          await expectWebhookAt(origin, '/acme');
          await expectWebhookAt(origin, '/bolt');
        }
      });

      it('infers the payload of an own event kind', { tags: 'P18' }, async () => {
        const refunds: string[] = [];

        @Module({
          imports: [
            PaymentWebhookModule.forRootAsync({
              useFactory: () => ({
                url,
                secret,
                events: { 'payment.refunded': z.object({ reference: z.string(), id: z.string() }) },
                handlers: {
                  'payment.succeeded': ({ reference }) => void credited.push(reference),
                  'payment.refunded': ({ payload }, { req, signal }) => {
                    signal.throwIfAborted();
                    refunds.push(`${payload.id} at ${String(req.url)}`);
                  },
                },
              }),
            }),
          ],
        })
        class Refunding {}

        const origin = await listen(await create(Refunding));
        await expectWebhookAt(origin);
        const type = 'payment.refunded';
        await signedDelivery({ secret, type, payload: { id: 'r-1' } }).send(`${origin}${url}`);
        expect(refunds).toEqual([`r-1 at ${url}`]);
      });

      it.each([
        ['secret is missing', () => ({ url, secret: undefined, handlers: () => undefined })],
        ['useFactory must return', () => undefined as never],
        ['url must be a path', () => ({ url: 'webhooks', secret, handlers: () => undefined })],
        ['no database', () => Promise.reject(new Error('no database'))],
      ])('stops the start: %s', { tags: 'R05' }, async (problem, useFactory) => {
        await expect(create(appWith(useFactory))).rejects.toThrow(new RegExp(`^${problem}`));
      });

      it('reads no handler from a polluted Object.prototype', { tags: 'O07' }, async () => {
        const handlers = { value: () => undefined, configurable: true, writable: true };
        Object.defineProperty(Object.prototype, 'handlers', handlers);
        try {
          const starting = create(appWith(() => ({ url, secret }) as never));
          await expect(starting).rejects.toThrow(/^handlers must be a map/);
        } finally {
          Reflect.deleteProperty(Object.prototype, 'handlers');
        }
      });

      it('gives the secret function the parameters of the path', async () => {
        const useFactory = () => ({
          url: '/:merchant/payments',
          secret: ({ req }: { readonly req: IncomingMessage }) => {
            const { merchant } = (req as unknown as { params: { merchant: string } }).params;
            return { secret: `the-secret-of-${merchant}`, tenant: merchant };
          },
          logger: log,
          handlers: ({ tenant }: WebhookEvent) => void credited.push(String(tenant)),
        });
        const origin = await listen(await create(appWith(useFactory)));
        const ofAcme = signedDelivery({ secret: 'the-secret-of-acme' });
        expect((await ofAcme.send(`${origin}/acme/payments`)).status).toBe(200);
        expect((await ofAcme.send(`${origin}/other/payments`)).status).toBe(401);
        expect(credited).toEqual(['acme']);
      });

      it(
        'does not start if a provider of `inject` belongs to a request',
        { tags: 'R05' },
        async () => {
          @Injectable({ scope: common.Scope.REQUEST })
          class Session {}

          @Module({ providers: [Session], exports: [Session] })
          class SessionModule {}

          const scoped = PaymentWebhookModule.forRootAsync({
            imports: [SessionModule],
            inject: [Session],
            useFactory: () => ({ url, secret, logger: log, handlers: () => undefined }),
          });
          @Module({ imports: [scoped] })
          class Scoped {}
          const app = await create(Scoped);
          await expect(app.init()).rejects.toThrow(/^inject has a request-scoped provider/);
        },
      );

      it('does not start if the factory hangs', { tags: 'R05' }, async () => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        const hanging = appWith(() => new Promise<never>(() => undefined));
        const starting = expect(create(hanging)).rejects.toThrow('useFactory took over 30 s');
        await vi.advanceTimersByTimeAsync(30_000);
        vi.useRealTimers();
        await starting;
      });

      it('does nothing in a context without HTTP', async () => {
        const context = await core.NestFactory.createApplicationContext(Shop, { logger: false });
        running.push(context);
        expect(context.get(Orders, { strict: false })).toBeInstanceOf(Orders);
      });
    });

    describe('paymentGate', () => {
      let seen: WebhookEvent[];
      beforeEach(() => {
        seen = [];
      });

      function controllerWith(options: GateOptions = {}): Type {
        @Controller()
        class Webhooks {
          @Post('webhooks/:tenant')
          @UseGuards(paymentGate({ secret, logger: log, ...options }))
          receive(@Req() req: IncomingMessage) {
            const event = webhookEvent(req);
            seen.push(event);
            return { credited: event.reference };
          }

          @Post('open')
          open(@Req() req: IncomingMessage) {
            seen.push(webhookEvent(req));
          }
        }

        @Module({ controllers: [Webhooks] })
        class Gated {}
        return Gated;
      }

      async function serve(options?: GateOptions, rawBody = true): Promise<string> {
        const settings = { rawBody, logger: false } as const;
        const module = controllerWith(options);
        return listen(await core.NestFactory.create(module, adapter(), settings));
      }

      it('passes a genuine event to the controller, which answers', async () => {
        const origin = await serve();
        const delivery = signedDelivery({ secret, reference: 'order-é-42' });
        const response = await delivery.send(`${origin}/webhooks/acme`);
        expect([response.status, await response.json()]).toEqual([201, { credited: 'order-é-42' }]);
        expect(Buffer.from(seen[0]!.rawBody).equals(delivery.rawBody)).toBe(true);
      });

      it('answers refusals and other kinds itself, whatever the filters do', async () => {
        const app = await core.NestFactory.create(controllerWith(), adapter(), {
          rawBody: true,
          logger: false,
        });
        app.useGlobalFilters({
          catch: (_error, host) =>
            app.getHttpAdapter().reply(host.switchToHttp().getResponse(), 'caught', 200) as unknown,
        });
        const origin = await listen(app);
        const forged = await signedDelivery({ secret: forgedBy }).send(`${origin}/webhooks/acme`);
        expect([forged.status, await forged.text()]).toEqual([
          401,
          '{"error":"invalid_signature"}',
        ]);
        const other = signedDelivery({ secret, type: 'payment.other' });
        expect(await (await other.send(`${origin}/webhooks/acme`)).text()).toBe(
          '{"received":true}',
        );
        expect(seen).toEqual([]);
      });

      it('names the tenant that the secret function returns', async () => {
        const origin = await serve({
          secret: ({ context }) => {
            const { params } = context.switchToHttp().getRequest<{ params: { tenant: string } }>();
            return { secret: `the-secret-of-${params.tenant}`, tenant: params.tenant };
          },
        });
        const delivery = signedDelivery({ secret: 'the-secret-of-acme' });
        expect((await delivery.send(`${origin}/webhooks/acme`)).status).toBe(201);
        expect((await delivery.send(`${origin}/webhooks/bolt`)).status).toBe(401);
        expect(seen).toMatchObject([{ tenant: 'acme' }]);
      });

      if (platform === 'Fastify') {
        it.each<[string, PropertyDescriptor]>([
          ['a text', { value: 'a text' }],
          ['the value of a getter', { get: () => signedDelivery({ secret }).rawBody }],
        ])('leaves %s that a hook kept off the message of Node', async (_what, rawBody) => {
          const platformAdapter = new FastifyAdapter();
          let message: object = {};
          platformAdapter.getInstance<FastifyInstance>().addHook('preHandler', async (request) => {
            message = Object.defineProperty(request, 'rawBody', rawBody).raw;
          });
          const module = controllerWith();
          const app = await core.NestFactory.create(module, platformAdapter, { logger: false });
          const reply = await signedDelivery({ secret }).send(`${await listen(app)}/webhooks/acme`);
          expect([reply.status, 'rawBody' in message]).toEqual([500, false]);
        });
      }

      it('answers 500 without `rawBody: true`, and the log says which line to add', async () => {
        const origin = await serve({}, false);
        const reply = await signedDelivery({ secret }).send(`${origin}/webhooks/acme`);
        expect([reply.status, await reply.text()]).toEqual([500, '{"error":"body_consumed"}']);
        const line = log.error.mock.calls.join();
        expect(line).toContain('NestFactory.create(AppModule, { rawBody: true })');
        expect(line).toContain('createNestApplication({ rawBody: true })');
        expect(seen).toEqual([]);
      });

      it('fails closed if the route has no gate', { tags: 'F22' }, async () => {
        const origin = await serve();
        expect((await signedDelivery({ secret }).send(`${origin}/open`)).status).toBe(500);
        expect(seen).toEqual([]);
      });
    });
  });
}
