/** The test that `paylink init` writes, and its settings. render.ts explains ‹ and ›. */
import { HOSTS } from './hosts.js';
import type { Project } from './project.js';

const RUNNERS = {
  vitest: "import { afterAll, beforeAll, expect, it } from 'vitest';\n",
  jest: '',
  'node:test':
    "import assert from 'node:assert/strict';\nimport { after, before, it } from 'node:test';\n",
} as const;

/**
 * The settings of the test. The test imports this file first, because modules read their settings
 * when they are loaded.
 */
export function testSettingsFile({ database }: Project): string {
  const { dialect, place } = database;
  const file = `const folder = mkdtempSync(join(tmpdir(), 'orders-'));
process.env['${place}'] = join(folder, 'test');
`;
  const variable = place ?? 'DATABASE_URL';
  const named = `// A database of its own: the orders of the test do not exist at the service.
if (existsSync('.env')) process.loadEnvFile('.env');
const { TEST_${variable} } = process.env;
if (!TEST_${variable}) throw new Error('set TEST_${variable} to a database for tests');
process.env['${variable}'] = TEST_${variable};
`;
  const isNew = place !== undefined && database.createTable !== undefined;
  const [imports, own] =
    dialect === undefined
      ? ['', '']
      : isNew
        ? [
            "import { mkdtempSync } from 'node:fs';\nimport { tmpdir } from 'node:os';\nimport { join } from 'node:path';\n",
            file,
          ]
        : ["import { existsSync } from 'node:fs';\n", named];
  return `${imports}import { TEST_SECRET } from '@paylink/testing';

${own}export const port = 10_000 + (process.pid % 20_000);
export const apiKey = 'sk_test_1.for-the-emulator-of-this-test';
Object.assign(process.env, {
  PAYLINK_BASE_URL: \`http://127.0.0.1:\${port}/api\`,
  PAYLINK_API_KEY: apiKey,
  WEBHOOK_SECRET: TEST_SECRET,
  SHOP_URL: 'http://localhost:3000',
});
`;
}

export function testFile(project: Project): string {
  const { framework, testRunner, database } = project;
  const { test, entry } = HOSTS[framework];
  const isNode = testRunner === 'node:test';
  const equal = (actual: string, expected: string): string =>
    isNode ? `assert.equal(${actual}, ${expected});` : `expect(${actual}).toBe(${expected});`;
  const hasTable = database.createTable !== undefined;
  const server =
    test.close === undefined
      ? ''
      : framework === 'nest'
        ? 'let app: INestApplication | undefined;\n'
        : 'let server‹: Server | undefined›;\n';
  return `import { apiKey, port } from './payment-test-settings';
${RUNNERS[testRunner]}${test.imports}import { startEmulator } from '@paylink/emulator';
import { signedDelivery, testOrders‹, type SignedDelivery› } from '@paylink/testing';
import { checkout } from './checkout';
import { close, ${hasTable ? 'createTable, ' : ''}insertOrder, orders } from './orders';
import { ${entry} } from './payment-webhook';
import { payments } from './payments';

let emulator‹: Awaited<ReturnType<typeof startEmulator>> | undefined›;
let deliver‹: (delivery: SignedDelivery) => Promise<number>›;
${server}
${isNode ? 'before' : 'beforeAll'}(async () => {
  emulator = await startEmulator({ port, apiKey });
${hasTable ? '  await createTable();\n' : ''}${test.start}});

${isNode ? 'after' : 'afterAll'}(async () => {
${test.close ?? ''}  await emulator?.close();
  await close();
});

async function isPaid(reference‹: string›)‹: Promise<boolean>› {
  return (await payments.explain(reference)).outcome === 'paid';
}

it('credits a paid order once, although its notification comes twice', async () => {
  const { reference } = await checkout(15_000);
  await emulator‹!›.pay(reference);
  ${equal('await deliver(signedDelivery({ reference }))', '200')}
  ${equal('await deliver(signedDelivery({ reference }))', '200')}
  ${equal('await isPaid(reference)', 'true')}
});

it('does not credit an order that is not paid', async () => {
  const { reference } = await checkout(15_000);
  ${equal('await deliver(signedDelivery({ reference }))', '503')}
  ${equal('await isPaid(reference)', 'false')}
});

it('refuses a forged notification', async () => {
  const { reference } = await checkout(15_000);
  await emulator‹!›.pay(reference);
  ${equal("await deliver(signedDelivery({ reference, secret: 'not the secret' }))", '401')}
  ${equal('await isPaid(reference)', 'false')}
});

it('credits on the return page if the notification is lost', async () => {
  const { reference } = await checkout(15_000);
  await emulator‹!›.pay(reference);
  ${equal('(await payments.settle(reference)).status', "'paid'")}
});

testOrders({ orders, createOrder: insertOrder, test: it });
`;
}
