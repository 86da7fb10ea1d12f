/** What `paylink init` writes: the webhook, its test, and for Next.js the route. */
import { nestTest, nestWebhook } from './nest-templates.js';
import type { Framework, Project } from './project.js';

export const PATH = '/webhooks/payments';

interface Host {
  /** The package of Paylink, and the function of it. */
  readonly from: readonly [name: string, door: string];
  /** Options beside the secret. */
  readonly options?: string;
  /** Packages that the test imports. */
  readonly imports: readonly (readonly [names: string, door: string])[];
  /** In the test: `send(delivery)` gives the status. `hook` is the webhook. */
  readonly send: (isTypeScript: boolean) => string;
  /** How it is mounted, for the last lines of the output. */
  readonly mount: string;
}

const onServer = (listener: string): string => `async function send(delivery) {
  const server = createServer(${listener});
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return (await delivery.send(\`http://127.0.0.1:\${server.address().port}${PATH}\`)).status;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}`;

const onServerTyped = (listener: string): string =>
  onServer(listener)
    .replace('send(delivery) {', 'send(delivery: SignedDelivery): Promise<number> {')
    .replace('new Promise((resolve)', 'new Promise<void>((resolve)')
    .replace('server.address().port', '(server.address() as AddressInfo).port');

const inServer = (listener: string) => (isTypeScript: boolean) =>
  (isTypeScript ? onServerTyped : onServer)(listener);
const SERVER = ['createServer', 'node:http'] as const;

const inProcess = (expression: string) => (isTypeScript: boolean) =>
  `async function send(delivery${isTypeScript ? ': SignedDelivery' : ''})${isTypeScript ? ': Promise<number>' : ''} {\n${expression}\n}`;

export const HOSTS: Readonly<Record<Framework, Host>> = {
  express: {
    from: ['paymentWebhook', '@paylink/express'],
    imports: [SERVER, ['express', 'express']],
    send: inServer(`express().post('${PATH}', hook)`),
    mount: `app.post('${PATH}', payments(orders));   // before express.json()`,
  },
  fastify: {
    from: ['paymentWebhook', '@paylink/fastify'],
    options: `url: '${PATH}', `,
    imports: [['Fastify', 'fastify']],
    send: inProcess(
      `  const app = Fastify();\n  await app.register(hook);\n  return (await app.inject(delivery.toInject('${PATH}'))).statusCode;`,
    ),
    mount: 'await app.register(payments(orders));',
  },
  koa: {
    from: ['paymentWebhook', '@paylink/koa'],
    imports: [SERVER, ['Koa', 'koa']],
    send: inServer('new Koa().use(hook).callback()'),
    mount: `router.post('${PATH}', payments(orders));   // before a body parser`,
  },
  hono: {
    from: ['paymentWebhook', '@paylink/hono'],
    imports: [['{ Hono }', 'hono']],
    send: inProcess(
      `  const app = new Hono().post('${PATH}', hook);\n  return (await app.request(delivery.toRequest('http://localhost${PATH}'))).status;`,
    ),
    mount: `app.post('${PATH}', payments(orders));   // above middleware that reads the body`,
  },
  nest: {
    from: ['PaymentWebhook', '@paylink/nest'],
    imports: [],
    send: () => '',
    mount:
      '@Module({ controllers: [PaymentsController], providers: [PaymentsGuard, { provide: Orders, useClass: YourOrders }] }), and ' +
      'NestFactory.create(AppModule, { rawBody: true })',
  },
  lambda: {
    from: ['paymentWebhook', '@paylink/lambda'],
    imports: [],
    send: inProcess(
      "  const body = delivery.rawBody.toString('base64');\n" +
        "  return (await hook({ httpMethod: 'POST', headers: delivery.headers, body, isBase64Encoded: true })).statusCode;",
    ),
    mount: 'export const handler = payments(orders);   // binaryMediaTypes of a REST API: */*',
  },
  'next-app': {
    from: ['paymentWebhook', '@paylink/next'],
    imports: [],
    send: inProcess(
      `  return (await hook(delivery.toRequest('http://localhost/api${PATH}'))).status;`,
    ),
    mount: '',
  },
  'next-pages': {
    from: ['paymentWebhookApi', '@paylink/next/pages'],
    imports: [SERVER],
    send: (isTypeScript) =>
      isTypeScript
        ? onServerTyped('(req, res) => void hook(req as NextApiRequest, res as NextApiResponse)')
        : onServer('(req, res) => void hook(req, res)'),
    mount: '',
  },
  node: {
    from: ['paymentWebhook', '@paylink/node'],
    imports: [SERVER],
    send: inServer('hook'),
    mount: 'http.createServer(payments(orders)).listen(3000);',
  },
};

/** ES modules in TypeScript and where package.json says so, else CommonJS. */
type Style = Pick<Project, 'isTypeScript' | 'isModule' | 'framework'>;

export function isEsm({ isTypeScript, isModule, framework }: Style): boolean {
  return isTypeScript || isModule || framework.startsWith('next');
}

function importLine(names: string, door: string, style: Style): string {
  if (isEsm(style)) return `import ${names} from '${door}';`;
  return `const ${names} = require('${door}');`;
}

export function webhookFile(style: Style): string {
  if (style.framework === 'nest') return nestWebhook(PATH);
  const { from, options = '' } = HOSTS[style.framework];
  const [name, door] = from;
  const { isTypeScript } = style;
  const types = isTypeScript
    ? '\n/** Your orders. */\nexport interface Orders {\n  /** Credits an order once, also where it is asked twice. */\n  credit(reference: string): Promise<void>;\n}\n'
    : '';
  const parameters = isTypeScript
    ? "orders: Orders, secret: string | undefined = process.env['WEBHOOK_SECRET']"
    : 'orders, secret = process.env.WEBHOOK_SECRET';
  const code = `function payments(${parameters}) {
  return ${name}({ ${options}secret }, { 'payment.succeeded': ({ reference }) => orders.credit(reference) });
}`;
  const exported = isEsm(style) ? `export ${code}` : `${code}\n\nmodule.exports = { payments };`;
  return `${importLine(`{ ${name} }`, door, style)}\n${types}\n/** The webhook: it verifies each notification, and runs \`orders.credit\` for those that are genuine. */\n${exported}\n`;
}

export function testFile(style: Style & Pick<Project, 'testRunner'>, module: string): string {
  const { isTypeScript, testRunner, framework, isModule } = style;
  const { imports, send } = HOSTS[framework];
  const usesServer = imports.includes(SERVER);
  // ES modules name the file that runs; CommonJS, and what compiles to it, finds it.
  const local = isEsm(style) && (isModule || !isTypeScript) ? `${module}.js` : module;
  const runner = runnerLines(style);
  if (framework === 'nest')
    return nestTest({ path: PATH, runner, local, cases: testCases(testRunner) });
  const lines = [
    ...runner,
    ...imports.map(([names, door]) =>
      importLine(
        names.startsWith('{') || names !== 'createServer' ? names : `{ ${names} }`,
        door,
        style,
      ),
    ),
    ...(isTypeScript && usesServer ? [`import type { AddressInfo } from 'node:net';`] : []),
    ...(isTypeScript && framework === 'next-pages'
      ? [`import type { NextApiRequest, NextApiResponse } from 'next';`]
      : []),
    importLine('{ signedDelivery, TEST_SECRET }', '@paylink/testing', style),
    ...(isTypeScript ? [`import type { SignedDelivery } from '@paylink/testing';`] : []),
    importLine('{ payments }', local, style),
  ];
  return `${lines.join('\n')}

const credited${isTypeScript ? ': string[]' : ''} = [];
const hook = payments({ credit: async (reference) => void credited.push(reference) }, TEST_SECRET);

${send(isTypeScript)}

${testCases(testRunner)}`;
}

function runnerLines(style: Style & Pick<Project, 'testRunner'>): string[] {
  if (style.testRunner === 'vitest') return [`import { expect, it } from 'vitest';`];
  // Its functions are global.
  if (style.testRunner === 'jest') return [];
  return [
    importLine('assert', 'node:assert/strict', style),
    importLine('{ it }', 'node:test', style),
  ];
}

function testCases(testRunner: Project['testRunner']): string {
  const equal = (actual: string, expected: string): string =>
    testRunner === 'node:test'
      ? `assert.deepEqual(${actual}, ${expected});`
      : `expect(${actual}).toEqual(${expected});`;
  return `it('credits the order of a genuine notification', async () => {
  ${equal("await send(signedDelivery({ reference: 'order-42' }))", '200')}
  ${equal('credited', "['order-42']")}
});

it('refuses a forged notification', async () => {
  ${equal("await send(signedDelivery({ secret: 'not-the-secret-of-this-shop', reference: 'order-43' }))", '401')}
  ${equal("credited.includes('order-43')", 'false')}
});
`;
}

export function routeFile(framework: 'next-app' | 'next-pages', module: string): string {
  const head = `import { payments } from '${module}';\n\n`;
  const orders = `payments({
  async credit(reference) {
    // Until this credits the order, each notification is answered 500: nothing is acknowledged.
    throw new Error(\`no code credits order \${reference} yet\`);
  },
})`;
  if (framework === 'next-app') return `${head}export const POST = ${orders};\n`;
  return `${head}// The signature is over the bytes as they came.\nexport const config = { api: { bodyParser: false } };\n\nexport default ${orders};\n`;
}
