import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import { build, NextInstallation, NextServer, stopServers, type NextApp } from './next-app.js';
import { send, type Answer } from './send.js';
import { SECRET as WEBHOOK_SECRET } from '../../../test/adapters/deliveries.js';
import { expectSameAsNode, limitedRoutes, LIMITED_ROUTES } from './same-as-node.js';

const BODY_LIMIT = 65_536;
/** Next.js applies it to edge functions without a proxy too. */
const PROXY_LIMIT = 100_000;
/** Sends a request through proxy.ts, which leaves all others out. */
const PROXIED = { 'x-proxied': 'yes' };

const APP = '/api/webhooks/payments';
const EDGE = '/api/webhooks/edge';
const PAGES = '/api/webhooks/payments-pages';
const ROUTES = [
  ['App Router', APP],
  ['App Router, edge', EDGE],
  ['Pages Router', PAGES],
] as const;
// An edge function's reply is held back by `next start` until the body has ended: these ask for it
// before.
const STREAMING = [ROUTES[0], ROUTES[2]];

let orders = 0;
const nextReference = (): string => `order-${++orders}`;

function genuine(reference = nextReference()): SignedDelivery {
  return signedDelivery({ secret: WEBHOOK_SECRET, reference });
}

function whole(
  url: string,
  { headers, rawBody }: SignedDelivery,
  more: Record<string, string> = {},
): Promise<Answer> {
  // `next dev` compiles the route first.
  return send(url, { headers: { ...headers, ...more }, body: rawBody, end: true }, 30_000);
}

/**
 * How often the order was credited: the server's lines come in their order, so a later credit's
 * line tells that all are there.
 */
async function credits(server: NextServer, path: string, reference: string): Promise<number> {
  const last = nextReference();
  expect(await whole(server.url + path, genuine(last))).toMatchObject({ status: 200 });
  await server.log(new RegExp(`^ *credited ${last}$`, 'm'));
  return server.credits(reference);
}

async function expectGenuineCreditedAndForgedRefused(
  server: NextServer,
  path: string,
  more: Record<string, string> = {},
): Promise<void> {
  const [paid, stolen] = [nextReference(), nextReference()];
  expect(await whole(server.url + path, genuine(paid), more)).toMatchObject({
    status: 200,
    body: '{"received":true}',
  });
  expect(
    await whole(
      server.url + path,
      signedDelivery({ secret: 'a-secret-of-nobody-at-all', reference: stolen }),
      more,
    ),
  ).toMatchObject({
    status: 401,
    body: '{"error":"invalid_signature"}',
    headers: { 'www-authenticate': 'Signature' },
  });
  expect(await credits(server, path, paid)).toBe(1);
  expect(await credits(server, path, stolen)).toBe(0);
}

const installed = new NextInstallation();

afterAll(async () => {
  await stopServers();
  installed.removeCopies();
});

describe('the example', { timeout: 30_000 }, () => {
  let app: NextApp;

  beforeAll(async () => {
    app = installed.copyExample('example', {
      'pages/api/webhooks/parsed.ts': `
        import { paymentWebhookApi } from '@paylink/next/pages';
        export default paymentWebhookApi({ secret: process.env.WEBHOOK_SECRET }, () => console.log('credited by mistake'));
      `,
      'app/api/webhooks/impatient/route.ts': `
        import { paymentWebhook } from '@paylink/next';
        export const POST = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, bodyTimeout: 200 }, () => undefined);
      `,
      ...LIMITED_ROUTES,
      ...limitedRoutes('roomy', 2 * PROXY_LIMIT),
      'proxy.ts': `
        import { NextResponse, type NextRequest } from 'next/server';
        export async function proxy(request: NextRequest) {
          const { length } = await request.text();
          return NextResponse.next({ headers: { 'x-proxy-read': String(length) } });
        }
        export const config = {
          matcher: [{ source: '/api/:path*', has: [{ type: 'header', key: 'x-proxied' }] }],
        };
      `,
      'next.config.ts': `export default { experimental: { proxyClientMaxBodySize: ${PROXY_LIMIT} } };`,
      'app/api/webhooks/[tenant]/route.ts': `
        import { paymentWebhook } from '@paylink/next';
        const secrets: Record<string, string | undefined> = { acme: process.env.WEBHOOK_SECRET };
        export const POST = paymentWebhook(
          {
            async secret({ params }) {
              const tenant = String((await params)?.tenant);
              return { secret: secrets[tenant], tenant };
            },
          },
          async ({ reference, tenant }, { request, params }) => {
            const { pathname } = new URL(request.url);
            console.log('told', JSON.stringify([reference, tenant, (await params)?.tenant, pathname]));
          },
        );
      `,
    });
    // F: a secret that is missing where the image is built must not break the build. It also checks
    // the types.
    const { code, output } = await build(app);
    expect(output).toMatch(/Finished TypeScript|Linting and checking validity of types/);
    expect(output).not.toContain('[paylink]');
    expect(code, output).toBe(0);
  }, 180_000);

  describe('run by next start', () => {
    let server: NextServer;

    beforeAll(async () => {
      server = await NextServer.run('start', app, { WEBHOOK_SECRET });
    }, 60_000);
    afterAll(stopServers);

    describe.each(ROUTES)('on the %s', (_name, path) => {
      it('credits a genuine delivery once, and refuses a forged one', async () => {
        await expectGenuineCreditedAndForgedRefused(server, path);
      });

      it('credits once for ten deliveries of one payment at once', async () => {
        const reference = nextReference();
        const delivery = genuine(reference);
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => whole(server.url + path, delivery)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
        expect(await credits(server, path, reference)).toBe(1);
      });

      it('verifies the bytes: the same JSON, written anew by a parser, is 401', async () => {
        const { headers } = signedDelivery({
          secret: WEBHOOK_SECRET,
          rawBody: '{ "reference": "order-42", "amount": 1.0 }',
        });
        const body = JSON.stringify({ reference: 'order-42', amount: 1.0 });
        expect(await send(server.url + path, { headers, body, end: true })).toMatchObject({
          status: 401,
        });
      });

      it('takes bytes as they are: JSON that is not UTF-8 is signed, and 400', async () => {
        const delivery = signedDelivery({
          secret: WEBHOOK_SECRET,
          rawBody: Buffer.from([0x7b, 0xff, 0x7d]),
        });
        expect(await whole(server.url + path, delivery)).toMatchObject({
          status: 400,
          body: '{"error":"invalid_payload"}',
        });
      });

      it('refuses a compressed body, 415', async () => {
        const delivery = signedDelivery({
          secret: WEBHOOK_SECRET,
          rawBody: gzipSync('{"reference":"order-42"}'),
        });
        expect(
          await whole(server.url + path, delivery, { 'content-encoding': 'gzip' }),
        ).toMatchObject({
          status: 415,
          body: '{"error":"unsupported_encoding"}',
        });
      });

      it('refuses a body over the limit, declared or not, 413', async () => {
        const large = signedDelivery({
          secret: WEBHOOK_SECRET,
          rawBody: Buffer.alloc(BODY_LIMIT + 1, 0x20),
        });
        const declared = { 'content-length': String(large.rawBody.length) };
        for (const more of [declared, {}]) {
          expect(await whole(server.url + path, large, more)).toMatchObject({
            status: 413,
            body: '{"error":"body_too_large"}',
          });
        }
      });

      it('answers another method with 405', async () => {
        for (const method of ['GET', 'PUT']) {
          expect(await send(server.url + path, { method, end: true })).toMatchObject({
            status: 405,
          });
        }
      });
    });

    it.each(STREAMING)(
      '%s: answers a body that is too large before it has ended if the proxy’s matcher leaves it out',
      async (_name, path) => {
        const { headers } = genuine();
        const declared = { headers: { ...headers, 'content-length': BODY_LIMIT + 1 } };
        const counted = { headers, body: Buffer.alloc(BODY_LIMIT + 1) };
        for (const unfinished of [declared, counted]) {
          const answer = await send(server.url + path, unfinished);
          expect(answer).toMatchObject({ status: 413, body: '{"error":"body_too_large"}' });
          expect(answer.headers['x-proxy-read']).toBeUndefined();
        }
      },
    );

    it('answers 405 with Allow on the Pages Router, and leaves the App Router to Next, without Allow and body', async () => {
      const ours = { headers: { allow: 'POST' }, body: '{"error":"method_not_allowed"}' };
      expect(await send(server.url + PAGES, { method: 'GET', end: true })).toMatchObject(ours);
      for (const path of [APP, EDGE]) {
        const { headers, body } = await send(server.url + path, { method: 'GET', end: true });
        expect([headers.allow, body]).toEqual([undefined, '']);
      }
    });

    it('gives up on a body that does not come, 408', async () => {
      const { headers } = genuine();
      expect(
        await send(`${server.url}/api/webhooks/impatient`, { headers, body: '{' }),
      ).toMatchObject({ status: 408 });
    });

    it('gives the secret’s function and the handler the parameters of a dynamic route, and the handler the tenant', async () => {
      expect(
        await whole(`${server.url}/api/webhooks/acme`, genuine('order-of-acme')),
      ).toMatchObject({ status: 200 });
      const [, told] = await server.log(/^ *told (.*)$/m);
      expect(JSON.parse(told!)).toEqual(['order-of-acme', 'acme', 'acme', '/api/webhooks/acme']);
      expect(await whole(`${server.url}/api/webhooks/other`, genuine())).toMatchObject({
        status: 503,
      });
    });

    it('gives the same status and body as node:http to generated requests, on every router', async () => {
      await expectSameAsNode(Number(new URL(server.url).port));
    }, 600_000);

    it('tells of a Pages route with the body parser on: 500, and the line to add in the log', async () => {
      expect(await whole(`${server.url}/api/webhooks/parsed`, genuine())).toMatchObject({
        status: 500,
        body: '{"error":"body_consumed"}',
      });
      const [line] = await server.log(/^\[paylink\] 500 body_consumed.*$/m);
      expect(line).toContain(
        'Add to the same file: export const config = { api: { bodyParser: false } };',
      );
      expect(server.output).not.toContain('credited by mistake');
    });

    describe('behind a proxy.ts that reads every body', () => {
      it.each(ROUTES)(
        '%s: credits a genuine delivery once, and refuses a forged one',
        async (_name, path) => {
          const delivery = genuine();
          const { status, headers } = await whole(server.url + path, delivery, PROXIED);
          expect([status, headers['x-proxy-read']]).toEqual([200, String(delivery.rawBody.length)]);
          await expectGenuineCreditedAndForgedRefused(server, path, PROXIED);
        },
      );

      it.each([
        ['App Router', '/api/roomy/app'],
        ['App Router, edge', '/api/roomy/edge'],
        ['Pages Router', '/api/roomy/pages'],
      ])(
        '%s refuses a genuine body that Next has cut off, and credits nothing',
        { tags: 'F15' },
        async (_name, path) => {
          const reference = nextReference();
          const padded = {
            secret: WEBHOOK_SECRET,
            rawBody: JSON.stringify({ reference }).padEnd(PROXY_LIMIT + 500),
          };
          const { rawBody, headers } = signedDelivery(padded);
          for (const more of [{}, { 'content-length': String(rawBody.length) }]) {
            const { status } = await send(server.url + path, {
              headers: { ...headers, ...more, ...PROXIED },
              body: rawBody,
              end: true,
            });
            expect([400, 401]).toContain(status);
          }
          expect(await credits(server, path, reference)).toBe(0);
        },
      );

      // CVE-2025-29927: a request could claim that the proxy had run.
      it.each(ROUTES)(
        '%s refuses a forged delivery that claims to have passed the proxy',
        { tags: 'F16' },
        async (_name, path) => {
          const reference = nextReference();
          const forged = signedDelivery({ secret: 'a-secret-of-nobody-at-all', reference });
          const claim =
            'proxy:proxy:proxy:proxy:proxy:src/proxy:middleware:middleware:middleware:middleware:middleware';
          expect(
            await whole(server.url + path, forged, {
              ...PROXIED,
              'x-middleware-subrequest': claim,
            }),
          ).toMatchObject({ status: 401 });
          expect(await credits(server, path, reference)).toBe(0);
        },
      );

      it.each(ROUTES)(
        '%s: refuses a body over our limit, 413',
        { tags: 'F17' },
        async (_name, path) => {
          const { headers } = genuine();
          const declared = {
            headers: { ...headers, ...PROXIED, 'content-length': BODY_LIMIT + 1 },
            body: Buffer.alloc(BODY_LIMIT + 1),
            end: true,
          };
          expect(await send(server.url + path, declared)).toMatchObject({ status: 413 });
        },
      );
    });
  });

  it('refuses every delivery with 500 if the secret is missing, and logs that once for each route', async () => {
    const server = await NextServer.run('start', app);
    for (const [, path] of ROUTES) {
      for (let time = 0; time < 3; time++) {
        expect(await whole(server.url + path, genuine())).toMatchObject({
          status: 500,
          body: '{"error":"misconfigured"}',
        });
      }
    }
    for (const [, path] of STREAMING)
      expect(await send(server.url + path, { body: '{' })).toMatchObject({ status: 500 });
    const line =
      /^\[paylink\] 500 misconfigured: this route cannot verify \(secret is missing\. Did you set WEBHOOK_SECRET\?\)/gm;
    await server.log(new RegExp(`(?:${line.source}[^]*){3}`, 'm'));
    expect(server.output.match(line)).toHaveLength(ROUTES.length);
    expect(server.output).not.toContain('credited');
    await server.stop();
  });

  it('credits a genuine delivery once and refuses a forged one under next dev, on every router', async () => {
    const server = await NextServer.run('dev', installed.copyExample('plain'), { WEBHOOK_SECRET });
    for (const [, path] of ROUTES) await expectGenuineCreditedAndForgedRefused(server, path);
    await server.stop();
  }, 120_000);
});
