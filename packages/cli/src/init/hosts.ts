/**
 * The routes of each host, and how its test sends a delivery, as TypeScript in ES modules.
 * JavaScript omits the text between ‹ and ›: see render.ts.
 */
import type { Framework } from './project.js';

export const WEBHOOK = '/webhooks/payments';

export interface Host {
  /** The Paylink package. */
  readonly adapter: string;
  readonly routes: string;
  /** The line that mounts the routes. The command prints it at the end. */
  readonly mount: string;
  readonly test: {
    /** Imports besides those of the test runner. */
    readonly imports: string;
    /** Assigns `deliver`, after the settings. */
    readonly start: string;
    readonly close?: string;
  };
}

const SECRET = "{ secret: process.env['WEBHOOK_SECRET'] }";
const MONEY =
  "import { orderStatus } from './payment-orders';\nimport { payments } from './payments';";
const PAGE =
  '// The page that the customer returns to. Check first that the order is of this customer.';

const ON_SERVER = {
  imports:
    "import { createServer‹, type Server› } from 'node:http';\n‹import type { AddressInfo " +
    "} from 'node:net';\n›",
  close: '  server.closeAllConnections();\n  server.close();\n',
};

/** Listens with `listener`, and sends deliveries to that server. */
const listening = (listener: string): string => `  server = createServer(${listener});
  await new Promise‹<void>›((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address()‹ as AddressInfo›;
  const url = \`http://127.0.0.1:\${port}${WEBHOOK}\`;
  deliver = async (delivery) => (await delivery.send(url)).status;
`;

export const HOSTS: Readonly<Record<Framework, Host>> = {
  express: {
    adapter: 'express',
    routes: `import { Router } from 'express';
import { paymentWebhook } from '@paylink/express';
${MONEY}

export const paymentRoutes‹: Router› = Router();

paymentRoutes.post('${WEBHOOK}', paymentWebhook(${SECRET}, payments));

${PAGE}
paymentRoutes.get('/payments/:reference', (req, res, next) => {
  orderStatus(req.params.reference).then((status) => res.json({ status }), next);
});
`,
    mount: 'app.use(paymentRoutes);   // above every body parser',
    test: {
      ...ON_SERVER,
      imports: `${ON_SERVER.imports}import express from 'express';\n`,
      start: `  const { paymentRoutes } = await import('./payment-webhook');
${listening('express().use(paymentRoutes)')}`,
    },
  },
  fastify: {
    adapter: 'fastify',
    routes: `import { paymentWebhook } from '@paylink/fastify';
‹import type { FastifyInstance } from 'fastify';
›${MONEY}

export async function paymentRoutes(app‹: FastifyInstance›)‹: Promise<void>› {
  // An encapsulated plugin: your other routes keep their body parsers.
  const secret = process.env['WEBHOOK_SECRET'];
  await app.register(paymentWebhook({ url: '${WEBHOOK}', secret }, payments));

  ${PAGE}
  app.get‹<{ Params: { reference: string } }>›('/payments/:reference', async (request) => ({
    status: await orderStatus(request.params.reference),
  }));
}
`,
    mount: 'await app.register(paymentRoutes);',
    test: {
      imports: "import fastify from 'fastify';\n",
      start: `  const { paymentRoutes } = await import('./payment-webhook');
  const app = fastify();
  await app.register(paymentRoutes);
  deliver = async (delivery) => (await app.inject(delivery.toInject('${WEBHOOK}'))).statusCode;
`,
    },
  },
  koa: {
    adapter: 'koa',
    routes: `import { paymentWebhook } from '@paylink/koa';
‹import type { Context, Next } from 'koa';
›${MONEY}

const webhook = paymentWebhook(${SECRET}, payments);

export async function paymentRoutes(ctx‹: Context›, next‹: Next›)‹: Promise<void>› {
  if (ctx.path === '${WEBHOOK}') {
    await webhook(ctx, next);
    return;
  }
  ${PAGE}
  const reference = /^\\/payments\\/([\\w-]+)$/.exec(ctx.path)?.[1];
  if (reference === undefined || ctx.method !== 'GET') {
    await next();
    return;
  }
  ctx.body = { status: await orderStatus(reference) };
}
`,
    mount: 'app.use(paymentRoutes);   // above every body parser',
    test: {
      ...ON_SERVER,
      imports: `${ON_SERVER.imports}import Koa from 'koa';\n`,
      start: `  const { paymentRoutes } = await import('./payment-webhook');
${listening('new Koa().use(paymentRoutes).callback()')}`,
    },
  },
  hono: {
    adapter: 'hono',
    routes: `import { Hono } from 'hono';
import { paymentWebhook } from '@paylink/hono';
${MONEY}

export const paymentRoutes = new Hono();

paymentRoutes.post('${WEBHOOK}', paymentWebhook(${SECRET}, payments));

${PAGE}
paymentRoutes.get('/payments/:reference', async (c) =>
  c.json({ status: await orderStatus(c.req.param('reference')) }),
);
`,
    mount: "app.route('/', paymentRoutes);   // above middleware that reads the body",
    test: {
      imports: '',
      start: `  const { paymentRoutes } = await import('./payment-webhook');
  deliver = async (delivery) =>
    (await paymentRoutes.request(delivery.toRequest('http://localhost${WEBHOOK}'))).status;
`,
    },
  },
  nest: {
    adapter: 'nest',
    routes: `import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { PaymentEvent, PaymentWebhook, type WebhookEvent } from '@paylink/nest';
${MONEY}

@Controller()
export class PaymentsController {
  @Post('${WEBHOOK.slice(1)}')
  @PaymentWebhook(${SECRET})
  async receive(@PaymentEvent() event: WebhookEvent): Promise<void> {
    await payments.receive(event);
  }

  ${PAGE}
  @Get('payments/:reference')
  async read(@Param('reference') reference: string): Promise<{ status: string }> {
    return { status: await orderStatus(reference) };
  }
}

@Module({ controllers: [PaymentsController] })
export class PaymentsModule {}
`,
    mount: '@Module({ imports: [PaymentsModule] }) in your AppModule',
    test: {
      imports: `import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
`,
      start: `  const { PaymentsModule } = await import('./payment-webhook');
  app = await NestFactory.create(PaymentsModule, { rawBody: true, logger: false });
  await app.listen(0, '127.0.0.1');
  const url = \`\${await app.getUrl()}${WEBHOOK}\`;
  deliver = async (delivery) => (await delivery.send(url)).status;
`,
      close: '  await app.close();\n',
    },
  },
  lambda: {
    adapter: 'lambda',
    routes: `import { paymentWebhook } from '@paylink/lambda';
${MONEY}

export const webhook = paymentWebhook(${SECRET}, payments);

${PAGE}
export async function returnPage(event‹: { pathParameters?: { reference?: string } }›) {
  const status = await orderStatus(event.pathParameters?.reference ?? '');
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status }),
  };
}
`,
    mount:
      `functions: webhook for POST ${WEBHOOK}, returnPage for GET /payments/{reference}. ` +
      'binaryMediaTypes of a REST API: */*',
    test: {
      imports: '',
      start: `  const { webhook } = await import('./payment-webhook');
  deliver = async ({ headers, rawBody }) => {
    const body = rawBody.toString('base64');
    return (await webhook({ httpMethod: 'POST', headers, body, isBase64Encoded: true })).statusCode;
  };
`,
    },
  },
  'next-app': {
    adapter: 'next',
    routes: `import { paymentWebhook } from '@paylink/next';
import { payments } from './payments';

export const POST = paymentWebhook(${SECRET}, payments);
`,
    mount: '',
    test: {
      imports: '',
      start: `  const { POST } = await import('./payment-webhook');
  deliver = async (delivery) =>
    (await POST(delivery.toRequest('http://localhost/api${WEBHOOK}'))).status;
`,
    },
  },
  'next-pages': {
    adapter: 'next',
    routes: `import { paymentWebhookApi } from '@paylink/next/pages';
import { payments } from './payments';

export const webhook = paymentWebhookApi(${SECRET}, payments);
`,
    mount: '',
    test: {
      ...ON_SERVER,
      imports:
        `${ON_SERVER.imports}‹import type { NextApiRequest, NextApiResponse } from ` + `'next';\n›`,
      start: `  const { webhook } = await import('./payment-webhook');
${listening('(req, res) => void webhook(req‹ as NextApiRequest›, res‹ as NextApiResponse›)')}`,
    },
  },
  node: {
    adapter: 'node',
    routes: `‹import type { IncomingMessage, ServerResponse } from 'node:http';
›import { paymentWebhook } from '@paylink/node';
${MONEY}

const webhook = paymentWebhook(${SECRET}, payments);

/** Answers the webhook and the return page. Returns false for all other requests. */
export async function paymentRoutes(
  req‹: IncomingMessage›,
  res‹: ServerResponse›,
)‹: Promise<boolean>› {
  const [path = ''] = (req.url ?? '').split('?');
  if (path === '${WEBHOOK}') {
    await webhook(req, res);
    return true;
  }
  ${PAGE}
  const reference = /^\\/payments\\/([\\w-]+)$/.exec(path)?.[1];
  if (reference === undefined || req.method !== 'GET') return false;
  try {
    const status = await orderStatus(reference);
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status }));
  } catch (error) {
    console.error(error);
    res.writeHead(503).end();
  }
  return true;
}
`,
    mount:
      'http.createServer(async (req, res) => { if (await paymentRoutes(req, res)) return; … })',
    test: {
      ...ON_SERVER,
      start: `  const { paymentRoutes } = await import('./payment-webhook');
${listening('(req, res) => void paymentRoutes(req, res)')}`,
    },
  },
};

/** The files that Next.js routes to. `lib` is the path from the file to the modules. */
export const NEXT_ROUTES = {
  'next-app': {
    [`app/api${WEBHOOK}/route`]: (lib: string) => `export { POST } from '${lib}/payment-webhook';
`,
    'app/api/payments/[reference]/route': (
      lib: string,
    ) => `import { orderStatus } from '${lib}/payment-orders';

${PAGE}
export async function GET(
  _request‹: Request›,
  { params }‹: { params: Promise<{ reference: string }> }›,
)‹: Promise<Response>› {
  return Response.json({ status: await orderStatus((await params).reference) });
}
`,
  },
  'next-pages': {
    [`pages/api${WEBHOOK}`]: (lib: string) => `import { webhook } from '${lib}/payment-webhook';

// Without this line Next.js parses the body, and the signed bytes are gone.
export const config = { api: { bodyParser: false } };

export default webhook;
`,
    'pages/api/payments/[reference]': (
      lib: string,
    ) => `‹import type { NextApiRequest, NextApiResponse } from 'next';
›import { orderStatus } from '${lib}/payment-orders';

${PAGE}
export default async function handler(
  req‹: NextApiRequest›,
  res‹: NextApiResponse›,
)‹: Promise<void>› {
  res.json({ status: await orderStatus(String(req.query['reference'])) });
}
`,
  },
} as const;
