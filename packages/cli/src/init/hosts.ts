/**
 * The routes of each host, and how its test sends a delivery, as TypeScript in ES modules.
 * JavaScript omits the text between ‹ and ›: see render.ts.
 */
import type { Framework } from './project.js';

export const WEBHOOK = '/webhooks/payments';

export interface Host {
  /** The Paylink package. */
  readonly adapter: string;
  /** The export of `routes` that the test imports. */
  readonly entry: string;
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
const MONEY = "import { payments } from './payments';";
/** The line in front of the line that mounts the routes. */
const IMPORT = "import { paymentRoutes } from './payment-webhook';\n";
const PAGE =
  '// The page that the customer returns to. Check first that the order is of this customer.';

const ON_SERVER = {
  imports:
    "import { createServer‹, type Server› } from 'node:http';\n‹import type { AddressInfo " +
    "} from 'node:net';\n›",
  close: '  server?.closeAllConnections();\n  server?.close();\n',
};

/** Listens with `listener`, and sends deliveries to that server. */
const listening = (listener: string): string => `  const listener = createServer(${listener});
  server = listener;
  await new Promise‹<void>›((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address()‹ as AddressInfo›;
  const url = \`http://127.0.0.1:\${address.port}${WEBHOOK}\`;
  deliver = async (delivery) => (await delivery.send(url)).status;
`;

export const HOSTS: Readonly<Record<Framework, Host>> = {
  express: {
    adapter: 'express',
    entry: 'paymentRoutes',
    routes: `import { Router } from 'express';
import { paymentWebhook } from '@paylink/express';
${MONEY}

export const paymentRoutes‹: Router› = Router();

paymentRoutes.post('${WEBHOOK}', paymentWebhook(${SECRET}, payments.receive));

${PAGE}
paymentRoutes.get('/payments/:reference', (req, res, next) => {
  payments.settle(req.params.reference).then(({ status }) => res.json({ status }), next);
});
`,
    mount: `${IMPORT}app.use(paymentRoutes);   // above every body parser`,
    test: {
      ...ON_SERVER,
      imports: `${ON_SERVER.imports}import express from 'express';\n`,
      start: listening('express().use(paymentRoutes)'),
    },
  },
  fastify: {
    adapter: 'fastify',
    entry: 'paymentRoutes',
    routes: `import { paymentWebhook } from '@paylink/fastify';
‹import type { FastifyInstance } from 'fastify';
›${MONEY}

export async function paymentRoutes(app‹: FastifyInstance›)‹: Promise<void>› {
  // An encapsulated plugin: your other routes keep their body parsers.
  const secret = process.env['WEBHOOK_SECRET'];
  await app.register(paymentWebhook({ url: '${WEBHOOK}', secret }, payments.receive));

  ${PAGE}
  app.get‹<{ Params: { reference: string } }>›('/payments/:reference', async (request) => {
    const { status } = await payments.settle(request.params.reference);
    return { status };
  });
}
`,
    mount: `${IMPORT}await app.register(paymentRoutes);`,
    test: {
      imports: "import fastify from 'fastify';\n",
      start: `  const app = fastify();
  await app.register(paymentRoutes);
  deliver = async (delivery) => (await app.inject(delivery.toInject('${WEBHOOK}'))).statusCode;
`,
    },
  },
  koa: {
    adapter: 'koa',
    entry: 'paymentRoutes',
    routes: `import { paymentWebhook } from '@paylink/koa';
‹import type { Context, Next } from 'koa';
›${MONEY}

const webhook = paymentWebhook(${SECRET}, payments.receive);

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
  const { status } = await payments.settle(reference);
  ctx.body = { status };
}
`,
    mount: `${IMPORT}app.use(paymentRoutes);   // above every body parser`,
    test: {
      ...ON_SERVER,
      imports: `${ON_SERVER.imports}import Koa from 'koa';\n`,
      start: listening('new Koa().use(paymentRoutes).callback()'),
    },
  },
  hono: {
    adapter: 'hono',
    entry: 'paymentRoutes',
    routes: `import { Hono } from 'hono';
import { paymentWebhook } from '@paylink/hono';
${MONEY}

export const paymentRoutes = new Hono();

paymentRoutes.post('${WEBHOOK}', paymentWebhook(${SECRET}, payments.receive));

${PAGE}
paymentRoutes.get('/payments/:reference', async (c) => {
  const { status } = await payments.settle(c.req.param('reference'));
  return c.json({ status });
});
`,
    mount: `${IMPORT}app.route('/', paymentRoutes);   // above middleware that reads the body`,
    test: {
      imports: '',
      start: `  deliver = async (delivery) =>
    (await paymentRoutes.request(delivery.toRequest('http://localhost${WEBHOOK}'))).status;
`,
    },
  },
  nest: {
    adapter: 'nest',
    entry: 'PaymentsModule',
    routes: `import { Controller, Get, Module, Param } from '@nestjs/common';
import { PaymentWebhookModule } from '@paylink/nest';
${MONEY}

@Controller()
export class PaymentsController {
  ${PAGE}
  @Get('payments/:reference')
  async read(@Param('reference') reference: string): Promise<{ status: string }> {
    const { status } = await payments.settle(reference);
    return { status };
  }
}

// In front of the parsers, and without the global prefix.
const webhook = PaymentWebhookModule.forRootAsync({
  useFactory: () => ({
    url: '${WEBHOOK}',
    secret: process.env['WEBHOOK_SECRET'],
    handlers: payments.receive,
  }),
});

@Module({ imports: [webhook], controllers: [PaymentsController] })
export class PaymentsModule {}
`,
    mount:
      "import { PaymentsModule } from './payment-webhook';\n" +
      '@Module({ imports: [PaymentsModule] })   // on your AppModule',
    test: {
      imports: `import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
`,
      start: `  app = await NestFactory.create(PaymentsModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = \`\${await app.getUrl()}${WEBHOOK}\`;
  deliver = async (delivery) => (await delivery.send(url)).status;
`,
      close: '  await app?.close();\n',
    },
  },
  lambda: {
    adapter: 'lambda',
    entry: 'webhook',
    routes: `import { paymentWebhook } from '@paylink/lambda';
${MONEY}

export const webhook = paymentWebhook(${SECRET}, payments.receive);

${PAGE}
export async function returnPage(event‹: { pathParameters?: { reference?: string } }›) {
  const { status } = await payments.settle(event.pathParameters?.reference ?? '');
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
      start: `  deliver = async ({ headers, rawBody }) => {
    const body = rawBody.toString('base64');
    return (await webhook({ httpMethod: 'POST', headers, body, isBase64Encoded: true })).statusCode;
  };
`,
    },
  },
  'next-app': {
    adapter: 'next',
    entry: 'POST',
    routes: `import { paymentWebhook } from '@paylink/next';
import { payments } from './payments';

export const POST = paymentWebhook(${SECRET}, payments.receive);
`,
    mount: '',
    test: {
      imports: '',
      start: `  deliver = async (delivery) =>
    (await POST(delivery.toRequest('http://localhost/api${WEBHOOK}'))).status;
`,
    },
  },
  'next-pages': {
    adapter: 'next',
    entry: 'webhook',
    routes: `import { paymentWebhookApi } from '@paylink/next/pages';
import { payments } from './payments';

export const webhook = paymentWebhookApi(${SECRET}, payments.receive);
`,
    mount: '',
    test: {
      ...ON_SERVER,
      imports:
        `${ON_SERVER.imports}‹import type { NextApiRequest, NextApiResponse } from ` + `'next';\n›`,
      start: listening(
        '(req, res) => void webhook(req‹ as NextApiRequest›, res‹ as NextApiResponse›)',
      ),
    },
  },
  node: {
    adapter: 'node',
    entry: 'paymentRoutes',
    routes: `‹import type { IncomingMessage, ServerResponse } from 'node:http';
›import { paymentWebhook } from '@paylink/node';
${MONEY}

const webhook = paymentWebhook(${SECRET}, payments.receive);

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
    const { status } = await payments.settle(reference);
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status }));
  } catch (error) {
    console.error(error);
    res.writeHead(503).end();
  }
  return true;
}
`,
    mount: `${IMPORT}createServer(async (req, res) => { if (await paymentRoutes(req, res)) return; … })`,
    test: {
      ...ON_SERVER,
      start: listening('(req, res) => void paymentRoutes(req, res)'),
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
    ) => `import { payments } from '${lib}/payments';

${PAGE}
export async function GET(
  _request‹: Request›,
  { params }‹: { params: Promise<{ reference: string }> }›,
)‹: Promise<Response>› {
  const { status } = await payments.settle((await params).reference);
  return Response.json({ status });
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
›import { payments } from '${lib}/payments';

${PAGE}
export default async function handler(
  req‹: NextApiRequest›,
  res‹: NextApiResponse›,
)‹: Promise<void>› {
  const { status } = await payments.settle(String(req.query['reference']));
  res.json({ status });
}
`,
  },
} as const;
