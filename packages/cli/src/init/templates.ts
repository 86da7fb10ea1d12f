/** What `paylink init` writes: the webhook, its test, and for Next.js the route. */
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

const inServer = (listener: string) => (isTypeScript: boolean) => (isTypeScript ? onServerTyped : onServer)(listener);
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
    from: ['paymentWebhook', '@paylink/fetch'],
    imports: [['{ Hono }', 'hono']],
    send: inProcess(
      `  const app = new Hono().post('${PATH}', (c) => hook(c.req.raw));\n  return (await app.request(delivery.toRequest('http://localhost${PATH}'))).status;`,
    ),
    mount: `const hook = payments(orders); app.post('${PATH}', (c) => hook(c.req.raw));`,
  },
  'next-app': {
    from: ['paymentWebhook', '@paylink/next'],
    imports: [],
    send: inProcess(`  return (await hook(delivery.toRequest('http://localhost/api${PATH}'))).status;`),
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

function isEsm({ isTypeScript, isModule, framework }: Style): boolean {
  return isTypeScript || isModule || framework.startsWith('next');
}

function importLine(names: string, door: string, style: Style): string {
  if (isEsm(style)) return `import ${names} from '${door}';`;
  return `const ${names} = require('${door}');`;
}

export function webhookFile(style: Style): string {
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
  const { isTypeScript, testRunner, framework } = style;
  const { imports, send } = HOSTS[framework];
  const usesServer = imports.includes(SERVER);
  const local = isEsm(style) ? `${module}.js` : module;
  const lines = [
    ...(testRunner === 'vitest'
      ? [`import { expect, it } from 'vitest';`]
      : [importLine('assert', 'node:assert/strict', style), importLine('{ it }', 'node:test', style)]),
    ...imports.map(([names, door]) =>
      importLine(names.startsWith('{') || names !== 'createServer' ? names : `{ ${names} }`, door, style),
    ),
    ...(isTypeScript && usesServer ? [`import type { AddressInfo } from 'node:net';`] : []),
    ...(isTypeScript && framework === 'next-pages' ? [`import type { NextApiRequest, NextApiResponse } from 'next';`] : []),
    importLine('{ signedDelivery, TEST_SECRET }', '@paylink/testing', style),
    ...(isTypeScript ? [`import type { SignedDelivery } from '@paylink/testing';`] : []),
    importLine('{ payments }', local, style),
  ];
  const equal = (actual: string, expected: string): string =>
    testRunner === 'vitest' ? `expect(${actual}).toEqual(${expected});` : `assert.deepEqual(${actual}, ${expected});`;
  return `${lines.join('\n')}

const credited${isTypeScript ? ': string[]' : ''} = [];
const hook = payments({ credit: async (reference) => void credited.push(reference) }, TEST_SECRET);

${send(isTypeScript)}

it('credits the order of a genuine notification', async () => {
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
    // Until this credits the order, the service is answered 500, and sends the notification again.
    throw new Error(\`no code credits order \${reference} yet\`);
  },
})`;
  if (framework === 'next-app') return `${head}export const POST = ${orders};\n`;
  return `${head}// The signature is over the bytes as they came.\nexport const config = { api: { bodyParser: false } };\n\nexport default ${orders};\n`;
}
