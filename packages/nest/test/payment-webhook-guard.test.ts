import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { Logger } from '@nestjs/common';
import { of, throwError } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError, WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { z } from 'zod';
import {
  PaymentEvent,
  PaymentWebhook,
  PaymentWebhookGuard,
  type NestWebhookOptions,
  type WebhookEvent,
} from '../src/index.js';
import * as nest10 from './nest-10/index.js';
import * as nest11 from './nest-11.js';

const require = createRequire(import.meta.url);
const { json } = createRequire(require.resolve('@nestjs/platform-express'))('express') as {
  json(): unknown;
};

const secret = TEST_SECRET;
const PLATFORMS = ([10, 11] as const).flatMap((version) =>
  ['Express', 'Fastify'].map((platform) => ({ version, platform })),
);

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((app) => app.close()));
});

describe.each(PLATFORMS)(
  'PaymentWebhookGuard on Nest $version with $platform',
  ({ version, platform }) => {
    const nest: typeof nest10 = version === 10 ? nest10 : (nest11 as unknown as typeof nest10);
    const { common, core, ExpressAdapter, FastifyAdapter } = nest;
    const { Controller, Get, Inject, Injectable, Module, Param, Post, UseGuards } = common;

    @Injectable()
    class PaymentsGuard extends PaymentWebhookGuard {
      constructor(@Inject('WEBHOOK_SECRET') injected: string) {
        super({ secret: injected });
      }
    }

    interface Setting {
      readonly rawBody?: boolean | undefined;
      readonly filter?: ((error: unknown) => void) | undefined;
      readonly prepare?: ((adapter: { getInstance(): unknown }) => void) | undefined;
    }

    /** An application with a controller, as a merchant writes one. */
    async function serve(
      options: Partial<NestWebhookOptions> = {},
      { rawBody = true, filter, prepare }: Setting = {},
    ) {
      const logger = {
        warn: vi.fn<(line: string) => void>(),
        error: vi.fn<(line: string) => void>(),
      };
      const seen: WebhookEvent[] = [];

      @Controller()
      class Webhooks {
        @Post('webhooks/:tenant')
        @PaymentWebhook({ secret, logger, ...options })
        receive(@PaymentEvent() event: WebhookEvent, @Param('tenant') tenant: string) {
          seen.push(event);
          if (tenant === 'broken') throw new Error('the controller is broken');
          return { credited: event.reference };
        }

        @Post('open')
        open(@PaymentEvent() event: WebhookEvent) {
          seen.push(event);
        }

        @Get('health')
        health() {
          return 'up';
        }
      }

      @Module({ controllers: [Webhooks] })
      class AppModule {}

      return { seen, logger, ...(await start(AppModule, { rawBody, filter, prepare })) };
    }

    async function start(module: object, { rawBody = true, filter, prepare }: Setting) {
      const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter();
      const app = await core.NestFactory.create(module, adapter, { rawBody, logger: false });
      if (filter !== undefined) {
        app.useGlobalFilters({
          catch(error, host) {
            filter(error);
            const answer = { statusCode: 500, caught: true };
            app.getHttpAdapter().reply(host.switchToHttp().getResponse(), answer, 500);
          },
        });
      }
      prepare?.(app.getHttpAdapter());
      await app.listen(0, '127.0.0.1');
      running.push(app);
      const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
      return { url: `http://127.0.0.1:${port}` };
    }

    /** Our reply, to the letter: status, our headers and body. */
    async function expectReply(response: Response, status: number, body: string): Promise<void> {
      expect([response.status, await response.text()]).toEqual([status, body]);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('content-length')).toBe(String(body.length));
      expect(response.headers.get('etag')).toBeNull();
    }

    function send(
      url: string,
      { rawBody }: SignedDelivery,
      headers: Record<string, string>,
    ): Promise<Response> {
      return fetch(url, { method: 'POST', headers, body: new Uint8Array(rawBody) });
    }

    it('gives the controller a genuine event, and lets it answer', async () => {
      const { url, seen } = await serve();
      const delivery = signedDelivery({ secret, reference: 'order-é-42' });
      const response = await delivery.send(`${url}/webhooks/acme`);
      expect([response.status, await response.json()]).toEqual([200, { credited: 'order-é-42' }]);
      expect(seen).toMatchObject([
        { type: 'payment.succeeded', reference: 'order-é-42', secretIndex: 0 },
      ]);
      expect(Buffer.from(seen[0]!.rawBody).equals(delivery.rawBody)).toBe(true);
      expect(await (await fetch(`${url}/health`)).text()).toBe('up');
    });

    it('refuses forged deliveries with our reply, and does not call the controller', async () => {
      const { url, seen } = await serve();
      const genuine = signedDelivery({ secret });
      const forged = await signedDelivery({ secret: 'a-secret-of-nobody' }).send(
        `${url}/webhooks/acme`,
      );
      expect(forged.headers.get('www-authenticate')).toBe('Signature');
      expect(forged.headers.get('connection')).toBe('close');
      await expectReply(forged, 401, '{"error":"invalid_signature"}');
      const respaced = { ...genuine, rawBody: Buffer.from('{ "reference": "order-42" }') };
      await expectReply(
        await send(`${url}/webhooks/acme`, respaced, genuine.headers),
        401,
        '{"error":"invalid_signature"}',
      );
      const json = { 'content-type': 'application/json' };
      await expectReply(
        await send(`${url}/webhooks/acme`, genuine, json),
        401,
        '{"error":"invalid_signature"}',
      );
      expect(seen).toEqual([]);
    });

    it('acknowledges a kind that is not configured without calling the controller', async () => {
      const { url, seen } = await serve();
      await expectReply(
        await signedDelivery({ secret, type: 'payment.other' }).send(`${url}/webhooks/acme`),
        200,
        '{"received":true}',
      );
      expect(seen).toEqual([]);
    });

    it('hands on configured kinds, and with `unrecognized` every other one', async () => {
      const refund = z.object({ reference: z.string(), refund_id: z.string() });
      const { url, seen } = await serve({
        events: { 'payment.refunded': refund },
        unrecognized: 'pass',
      });
      const payload = { refund_id: 'r-1' };
      expect(
        (
          await signedDelivery({ secret, type: 'payment.refunded', payload }).send(
            `${url}/webhooks/acme`,
          )
        ).status,
      ).toBe(200);
      expect(
        (await signedDelivery({ secret, type: 'payment.other' }).send(`${url}/webhooks/acme`))
          .status,
      ).toBe(200);
      const bad = await signedDelivery({ secret, type: 'payment.refunded' }).send(
        `${url}/webhooks/acme`,
      );
      await expectReply(bad, 400, '{"error":"invalid_payload"}');
      expect(seen).toMatchObject([
        { type: 'payment.refunded', payload },
        { type: 'unrecognized', kind: 'payment.other' },
      ]);
    });

    it('refuses a body that is too large, and a content encoding', async () => {
      const { url, seen } = await serve({ bodyLimit: 100 });
      const large = signedDelivery({ secret, reference: 'x'.repeat(200) });
      await expectReply(
        await large.send(`${url}/webhooks/acme`),
        413,
        '{"error":"body_too_large"}',
      );
      if (platform === 'Express') {
        // Fastify itself refuses it, since its JSON parser cannot read it.
        const zipped = signedDelivery({ secret, rawBody: gzipSync('{"reference":"order-42"}') });
        const headers = {
          ...zipped.headers,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        };
        await expectReply(
          await send(`${url}/webhooks/acme`, zipped, headers),
          415,
          '{"error":"unsupported_encoding"}',
        );
      }
      expect(seen).toEqual([]);
    });

    it('takes no body that middleware inflated and whose header it deleted', async () => {
      const { url, seen } = await serve(
        {},
        {
          prepare: (adapter) => {
            const inflate = (
              req: { headers: Record<string, unknown>; rawBody?: Buffer },
              _res: unknown,
              next: () => void,
            ): void => {
              delete req.headers['content-encoding'];
              next();
            };
            if (platform === 'Express')
              (adapter.getInstance() as { use(handler: typeof inflate): void }).use(inflate);
            else (adapter.getInstance() as FastifyInstance).addHook('onRequest', inflate as never);
          },
        },
      );
      const zipped = signedDelivery({ secret });
      const headers = { ...zipped.headers, 'content-encoding': 'gzip' };
      await expectReply(
        await send(`${url}/webhooks/acme`, zipped, headers),
        415,
        '{"error":"unsupported_encoding"}',
      );
      expect(seen).toEqual([]);
    });

    it('answers 500 without `rawBody: true`, and the log says which line to add', async () => {
      const { url, seen, logger } = await serve({}, { rawBody: false });
      const reply = await signedDelivery({ secret }).send(`${url}/webhooks/acme`);
      await expectReply(reply, 500, '{"error":"body_consumed"}');
      const line = logger.error.mock.calls.join();
      expect(line).toContain('NestFactory.create(AppModule, { rawBody: true })');
      expect(line).toContain('createNestApplication({ rawBody: true })');
      expect(seen).toEqual([]);
    });

    it('answers 500 behind app.use(json()) in spite of `rawBody: true`, and the log names useBodyParser', async () => {
      if (platform === 'Fastify') return;
      const { url, logger } = await serve(
        {},
        {
          prepare: (adapter) => {
            (adapter.getInstance() as { use(handler: unknown): void }).use(json());
          },
        },
      );
      const reply = await signedDelivery({ secret }).send(`${url}/webhooks/acme`);
      await expectReply(reply, 500, '{"error":"body_consumed"}');
      const line = logger.error.mock.calls.join();
      expect(line).toContain("Replace app.use(json()) by app.useBodyParser('json')");
    });

    it('fails closed without a guard in front of the parameter', async () => {
      const errors: unknown[] = [];
      const { url, seen } = await serve({}, { filter: (error) => errors.push(error) });
      const response = await signedDelivery({ secret }).send(`${url}/open`);
      expect(response.status).toBe(500);
      expect(errors).toMatchObject([{ name: 'ConfigurationError', option: 'webhookEvent' }]);
      expect(seen).toEqual([]);
    });

    it('gives an error of the controller to exception filters, and no refusal', async () => {
      const errors: unknown[] = [];
      const { url } = await serve({}, { filter: (error) => errors.push(error) });
      await expectReply(
        await signedDelivery({ secret: 'a-secret-of-nobody' }).send(`${url}/webhooks/acme`),
        401,
        '{"error":"invalid_signature"}',
      );
      expect(errors).toEqual([]);
      const response = await signedDelivery({ secret }).send(`${url}/webhooks/broken`);
      expect([response.status, await response.json()]).toEqual([
        500,
        { statusCode: 500, caught: true },
      ]);
      expect(errors).toMatchObject([{ message: 'the controller is broken' }]);
    });

    it('chooses the secret and the tenant by the request', async () => {
      const secrets: Record<string, string> = { a: 'secret-of-tenant-a', b: 'secret-of-tenant-b' };
      const { url, seen } = await serve({
        secret: ({ context }) => {
          const { params } = context.switchToHttp().getRequest<{ params: { tenant: string } }>();
          return { secret: secrets[params.tenant], tenant: params.tenant };
        },
      });
      const delivery = signedDelivery({ secret: 'secret-of-tenant-a' });
      expect((await delivery.send(`${url}/webhooks/a`)).status).toBe(200);
      expect((await delivery.send(`${url}/webhooks/b`)).status).toBe(401);
      await expectReply(
        await delivery.send(`${url}/webhooks/c`),
        503,
        '{"error":"secret_unavailable"}',
      );
      expect(seen).toMatchObject([{ tenant: 'a' }]);
    });

    it('takes its secret by injection if it is extended', async () => {
      @Controller()
      class Webhooks {
        @Post('webhooks')
        @UseGuards(PaymentsGuard)
        receive(@PaymentEvent() { reference }: WebhookEvent) {
          return reference;
        }
      }

      @Module({
        controllers: [Webhooks],
        providers: [{ provide: 'WEBHOOK_SECRET', useValue: secret }],
      })
      class AppModule {}

      const { url } = await start(AppModule, {});
      const response = await signedDelivery({ secret }).send(`${url}/webhooks`);
      expect([response.status, await response.text()]).toEqual([201, 'order-42']);
      expect(
        (await signedDelivery({ secret: 'a-secret-of-nobody' }).send(`${url}/webhooks`)).status,
      ).toBe(401);
    });

    it('answers 200 by the decorator alone, also with a secret by injection', async () => {
      @Controller()
      class Webhooks {
        @Post('constant')
        @PaymentWebhook({ secret })
        constant(@PaymentEvent() { reference }: WebhookEvent) {
          return reference;
        }

        @Post('injected')
        @PaymentWebhook(PaymentsGuard)
        injected(@PaymentEvent() { reference }: WebhookEvent) {
          return reference;
        }
      }

      @Module({
        controllers: [Webhooks],
        providers: [{ provide: 'WEBHOOK_SECRET', useValue: secret }],
      })
      class AppModule {}

      const { url } = await start(AppModule, {});
      for (const path of ['constant', 'injected']) {
        const response = await signedDelivery({ secret }).send(`${url}/${path}`);
        expect([path, response.status, await response.text()]).toEqual([path, 200, 'order-42']);
        expect(
          (await signedDelivery({ secret: 'a-secret-of-another' }).send(`${url}/${path}`)).status,
        ).toBe(401);
      }
    });

    it('answers 500 and nothing else if the thrown error carries a status below 400', async () => {
      const thrown: unknown[] = [
        ...[200, 201, 204, 302, 0, NaN, 1e9, '200'].map((statusCode) =>
          Object.assign(new Error('of a client'), { statusCode }),
        ),
        ...[200, 204].map((statusCode) => ({ statusCode, message: 'of a client' })),
        ...[200, 302].map((status) => new common.HttpException('of a client', status)),
        Object.assign(new Error('of a client'), {
          status: 200,
          headers: { 'x-leak': '1' },
          expose: true,
        }),
        undefined,
      ];

      @Controller()
      class Webhooks {
        @Post('webhooks')
        @PaymentWebhook({ secret })
        receive(@PaymentEvent() { reference }: WebhookEvent): never {
          throw thrown[Number(reference)];
        }
      }

      @Module({ controllers: [Webhooks] })
      class AppModule {}

      const { url } = await start(AppModule, {});
      for (const index of thrown.keys()) {
        const response = await signedDelivery({ secret, reference: String(index) }).send(
          `${url}/webhooks`,
        );
        expect([index, response.status, await response.json()]).toEqual([
          index,
          500,
          { statusCode: 500, message: 'Internal server error' },
        ]);
        expect(response.headers.get('x-leak')).toBeNull();
      }
    });

    it('answers 500 to results that mean failure, and to an Observable that fails', async () => {
      const results: unknown[] = [
        new Error('not credited'),
        new Response(null, { status: 503 }),
        { statusCode: 503 },
        { status: 503 },
        throwError(() => Object.assign(new Error('not credited'), { statusCode: 200 })),
        of({ statusCode: 503 }),
      ];

      @Controller()
      class Webhooks {
        @Post('webhooks')
        @PaymentWebhook({ secret })
        receive(@PaymentEvent() { reference }: WebhookEvent) {
          return results[Number(reference)];
        }
      }

      @Module({ controllers: [Webhooks] })
      class AppModule {}

      const { url } = await start(AppModule, {});
      for (const index of results.keys()) {
        const response = await signedDelivery({ secret, reference: String(index) }).send(
          `${url}/webhooks`,
        );
        expect([index, response.status]).toEqual([index, 500]);
      }
    });

    it('takes any content type once Nest keeps the bytes of all', async () => {
      // Nest's parser for Express leaves other types alone, so that the guard reads them itself;
      // Fastify has to be told.
      const all = (adapter: { getInstance(): unknown }): void => {
        if (platform === 'Express') return;
        const fastify = adapter.getInstance() as FastifyInstance;
        fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
          done(null, Object.assign(request, { rawBody: body }).rawBody);
        });
      };
      const { url } = await serve({}, { prepare: all });
      const delivery = signedDelivery({ secret });
      for (const type of [
        'application/octet-stream',
        'application/vnd.paylink+json',
        'application/json; charset=utf-8',
      ]) {
        const response = await send(`${url}/webhooks/acme`, delivery, {
          ...delivery.headers,
          'content-type': type,
        });
        expect([type, response.status, await response.json()]).toEqual([
          type,
          200,
          { credited: 'order-42' },
        ]);
      }
    });

    // Beside Nest 10, this suite has two copies of @nestjs/common. An application has one.
    if (version === 11) {
      it('gives exception filters the error of the controller, itself or as the cause', async () => {
        const plain = new Error('mine');
        const refusal = new common.HttpException('mine', 400);
        const wrapped = [200, 399, 409, 600].map((statusCode) =>
          Object.assign(new Error('mine'), { statusCode }),
        );
        const thrown: Error[] = [plain, refusal, ...wrapped, new common.HttpException('mine', 200)];

        @Controller()
        class Webhooks {
          @Post('webhooks')
          @PaymentWebhook({ secret })
          receive(@PaymentEvent() { reference }: WebhookEvent): never {
            throw thrown[Number(reference)]!;
          }
        }

        @Module({ controllers: [Webhooks] })
        class AppModule {}

        const seen: unknown[] = [];
        const { url } = await start(AppModule, { filter: (error) => seen.push(error) });
        for (const index of thrown.keys())
          await signedDelivery({ secret, reference: String(index) }).send(`${url}/webhooks`);
        expect(seen.slice(0, 2)).toEqual([plain, refusal]);
        const causes = seen.slice(2).map((error) => ((error as Error).cause as Error).cause);
        expect(causes).toEqual(thrown.slice(2));
      });

      it('logs a WebhookError of the controller, and answers with its code and status', async () => {
        @Controller()
        class Webhooks {
          @Post('webhooks')
          @PaymentWebhook({ secret })
          receive(@PaymentEvent() _event: WebhookEvent): never {
            throw new WebhookError('store_unavailable', { cause: new Error('no database') });
          }
        }

        @Module({ controllers: [Webhooks] })
        class AppModule {}

        const log = vi.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
        const { url } = await start(AppModule, {});
        const response = await signedDelivery({ secret }).send(`${url}/webhooks`);
        expect([response.status, await response.json()]).toEqual([
          503,
          { error: 'store_unavailable' },
        ]);
        expect(response.headers.get('retry-after')).toBe('5');
        expect(log.mock.calls).toEqual([
          [expect.stringMatching(/ 503 store_unavailable: "order-42": .*\(Error: no database\)/)],
        ]);
        log.mockRestore();
      });

      it('leaves a refusal of the controller in the form of Nest to Nest', async () => {
        @Controller()
        class Webhooks {
          @Post('webhooks')
          @PaymentWebhook({ secret })
          receive(@PaymentEvent() _event: WebhookEvent): never {
            throw new common.ServiceUnavailableException('come back');
          }
        }

        @Module({ controllers: [Webhooks] })
        class AppModule {}

        const { url } = await start(AppModule, {});
        const response = await signedDelivery({ secret }).send(`${url}/webhooks`);
        expect([response.status, await response.json()]).toMatchObject([
          503,
          { message: 'come back' },
        ]);
      });
    }

    it('keeps fifty deliveries at once apart, of which every second is forged', async () => {
      const { url, seen } = await serve();
      const deliveries = Array.from({ length: 50 }, (_, index) =>
        signedDelivery({
          secret: index % 2 === 0 ? secret : 'a-secret-of-nobody',
          reference: `order-${index}`,
        }),
      );
      const responses = await Promise.all(
        deliveries.map((delivery) => delivery.send(`${url}/webhooks/acme`)),
      );
      expect(responses.map(({ status }) => status)).toEqual(
        deliveries.map((_, index) => (index % 2 === 0 ? 200 : 401)),
      );
      expect(
        await Promise.all(responses.filter(({ ok }) => ok).map((response) => response.json())),
      ).toEqual(
        deliveries.flatMap((_, index) => (index % 2 === 0 ? [{ credited: `order-${index}` }] : [])),
      );
      expect(seen).toHaveLength(25);
    });
  },
);

it('throws at startup for a missing secret, and for an option that a gate does not have', () => {
  expect(() => new PaymentWebhookGuard({ secret: undefined })).toThrow(ConfigurationError);
  expect(() => PaymentWebhook({ secret: undefined })).toThrow(ConfigurationError);
  const options = { secret, handlerTimeout: 1 } as unknown as NestWebhookOptions;
  expect(() => new PaymentWebhookGuard(options)).toThrow(/^handlerTimeout is an unknown option/);
});
