/** The test that `paylink init` writes. render.ts explains ‹ and ›. */
import { HOSTS } from './hosts.js';
import { loadsDotenv } from './money.js';
import type { Project } from './project.js';

const RUNNERS = {
  vitest: {
    imports: "import { afterAll, beforeAll, expect, it } from 'vitest';\n",
    before: 'beforeAll',
    after: 'afterAll',
  },
  jest: { imports: '', before: 'beforeAll', after: 'afterAll' },
  'node:test': {
    imports:
      "import assert from 'node:assert/strict';\nimport { after, before, it } from 'node:test';\n",
    before: 'before',
    after: 'after',
  },
} as const;

export function testFile(project: Project): string {
  const { framework, testRunner, database } = project;
  const { imports, before, after } = RUNNERS[testRunner];
  const { test } = HOSTS[framework];
  const needsDatabase = database !== 'memory';
  const loadsItself = needsDatabase && !loadsDotenv(project);
  const equal = (actual: string, expected: string): string =>
    testRunner === 'node:test'
      ? `assert.equal(${actual}, ${expected});`
      : `expect(${actual}).toBe(${expected});`;
  const variables = [
    'let emulator‹: Awaited<ReturnType<typeof startEmulator>>›;',
    "let orders‹: typeof import('./payment-orders')›;",
    'let deliver‹: (delivery: SignedDelivery) => Promise<number>›;',
    ...(needsDatabase ? ["let pool‹: typeof import('./payments').pool›;"] : []),
    ...(test.close === undefined
      ? []
      : framework === 'nest'
        ? ['let app: INestApplication;']
        : ['let server‹: Server›;']),
  ];
  return `${imports}${loadsItself ? "import { existsSync } from 'node:fs';\n" : ''}${test.imports}import { startEmulator } from '@paylink/emulator';
import { signedDelivery, TEST_SECRET‹, type SignedDelivery› } from '@paylink/testing';

${variables.join('\n')}

${before}(async () => {
${loadsItself ? "  if (existsSync('.env')) process.loadEnvFile('.env');\n" : ''}  emulator = await startEmulator();
  // The modules read their settings when they are imported, so set them first.
  Object.assign(process.env, {
    PAYLINK_BASE_URL: emulator.baseUrl,
    PAYLINK_API_KEY: emulator.apiKey,
    WEBHOOK_SECRET: TEST_SECRET,
    SHOP_URL: 'http://localhost:3000',
  });
  orders = await import('./payment-orders');
${needsDatabase ? "  ({ pool } = await import('./payments'));\n" : ''}${test.start}});

${after}(async () => {
${test.close ?? ''}  await emulator.close();
${needsDatabase ? '  await pool.end();\n' : ''}});

it('credits a paid order once, although its notification comes twice', async () => {
  const { reference } = await orders.createOrder(15_000);
  await emulator.pay(reference);
  ${equal('await deliver(signedDelivery({ reference }))', '200')}
  ${equal('await deliver(signedDelivery({ reference }))', '200')}
  ${equal('await orders.isPaid(reference)', 'true')}
});

it('does not credit an order that is not paid', async () => {
  const { reference } = await orders.createOrder(15_000);
  ${equal('await deliver(signedDelivery({ reference }))', '503')}
  ${equal('await orders.isPaid(reference)', 'false')}
});

it('refuses a forged notification', async () => {
  const { reference } = await orders.createOrder(15_000);
  await emulator.pay(reference);
  ${equal("await deliver(signedDelivery({ reference, secret: 'not the secret' }))", '401')}
  ${equal('await orders.isPaid(reference)', 'false')}
});

it('credits on the return page if the notification is lost', async () => {
  const { reference } = await orders.createOrder(15_000);
  await emulator.pay(reference);
  ${equal('await orders.orderStatus(reference)', "'success'")}
  ${equal('await orders.isPaid(reference)', 'true')}
});
`;
}
