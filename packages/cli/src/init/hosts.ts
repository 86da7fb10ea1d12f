export const WEBHOOK = '/webhooks/payments';

/** The frameworks of `paylink init`. */
// oxfmt-ignore
export type Framework =
  | 'express' | 'fastify' | 'koa' | 'hono' | 'nest' | 'next-app' | 'next-pages' | 'lambda' | 'node';

interface Host {
  /** The Paylink package. */
  readonly adapter: string;
  /** The lines that mount the routes. The command prints them at the end. */
  readonly mount: string;
  /** True if the test sends its deliveries to a server of node:http. */
  readonly listens?: true;
}

const IMPORT = "import { paymentRoutes } from './payment-webhook';\n";
const USE = `${IMPORT}app.use(paymentRoutes);   // above every body parser`;

export const HOSTS: Readonly<Record<Framework, Host>> = {
  express: { adapter: 'express', mount: USE, listens: true },
  fastify: { adapter: 'fastify', mount: `${IMPORT}await app.register(paymentRoutes);` },
  koa: { adapter: 'koa', mount: USE, listens: true },
  hono: {
    adapter: 'hono',
    mount: `${IMPORT}app.route('/', paymentRoutes);   // above middleware that reads the body`,
  },
  nest: {
    adapter: 'nest',
    mount:
      "import { PaymentsModule } from './payment-webhook';\n" +
      '@Module({ imports: [PaymentsModule] })   // on your AppModule',
  },
  lambda: {
    adapter: 'lambda',
    mount:
      `functions: webhook for POST ${WEBHOOK}, returnPage for GET /payments/{reference}. ` +
      'binaryMediaTypes of a REST API: */*',
  },
  'next-app': { adapter: 'next', mount: '' },
  'next-pages': { adapter: 'next', mount: '', listens: true },
  node: {
    adapter: 'node',
    mount: `${IMPORT}createServer(async (req, res) => { if (await paymentRoutes(req, res)) return; … })`,
    listens: true,
  },
};

export const FRAMEWORKS = Object.keys(HOSTS) as readonly Framework[];

/** The files that Next.js routes to, each with its template. */
export const NEXT_ROUTES: Readonly<Partial<Record<Framework, Readonly<Record<string, string>>>>> = {
  'next-app': {
    [`app/api${WEBHOOK}/route`]: 'routes/next-app.webhook',
    'app/api/payments/[reference]/route': 'routes/next-app.page',
  },
  'next-pages': {
    [`pages/api${WEBHOOK}`]: 'routes/next-pages.webhook',
    'pages/api/payments/[reference]': 'routes/next-pages.page',
  },
};
