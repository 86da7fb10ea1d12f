/** The bundles and the SAM template that docs/serverless.md shows. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmulator } from '@paylink/emulator';
import { signedDelivery } from '@paylink/testing';
import { expect, it, onTestFinished } from 'vitest';
import { parse, type ScalarTag } from 'yaml';
import { startPage } from '../../docs/.vitepress/start-pages.js';
import { SOURCE } from '../../scripts/source.mjs';
import { blockOf } from './blocks.js';
import { stepsOf } from './quick-start.js';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The reader's own database: here each bundle has its orders in memory. */
const ORDERS = `
import { memoryOrders } from '@paylink/payments';
export const { orders, add } = memoryOrders();
for (const reference of process.env.REFERENCES!.split(','))
  add({ reference, amount: 15_000, currency: 'XOF' });
export const createOrder = async () => {};
`;

/** Loads both functions as AWS does, and calls them. */
const CALLS = `
import { pathToFileURL } from 'node:url';
const [event, folder, ending] = JSON.parse(process.env.CALLS);
const load = (name) => import(pathToFileURL(\`\${folder}/dist/\${name}.\${ending}\`).href);
const { handler } = await load('handler');
const statuses = [await handler(event), await handler(event)].map(({ statusCode }) => statusCode);
const log = console.log;
const lines = [];
console.log = (...words) => lines.push(words.join(' '));
await (await load('scheduled')).handler();
log(JSON.stringify({ statuses, lines }));
process.exit();
`;

it.each([
  ['cjs', 'cjs'],
  ['esm', 'mjs'],
] as const)(
  'a Lambda function, bundled as %s, credits an order once, and its schedule the others',
  async (format, ending) => {
    const emulator = await startEmulator();
    const folder = await mkdtemp(join(tmpdir(), 'paylink-lambda-'));
    onTestFinished(async () => {
      await emulator.close();
      await rm(folder, { recursive: true, force: true });
    });
    for (const reference of ['order-1', 'order-2']) {
      await emulator.createLink({ amount: 15_000, reference });
      await emulator.pay(reference);
    }
    await symlink(at('test/node_modules'), join(folder, 'node_modules'));
    for (const step of stepsOf(startPage('en', 'lambda')))
      if (step.kind === 'file') await writeFile(join(folder, step.path), step.text);
    await writeFile(join(folder, 'orders.ts'), ORDERS);
    for (const [page, name] of [
      ['docs/schedule.md', 'reconcile.ts'],
      ['docs/serverless.md', 'scheduled.ts'],
    ] as const)
      await writeFile(join(folder, name), await blockOf(page, `// ${name}`));
    const bundle = (await blockOf('docs/serverless.md', `--format=${format}`)).replace(
      'npx esbuild',
      // The tests do not need built packages.
      `${at('test/node_modules/.bin/esbuild')} --conditions=${SOURCE},module --log-level=warning`,
    );
    await run('bash', ['-ec', bundle], { cwd: folder });
    // AWS loads the bundle without the packages.
    await rm(join(folder, 'node_modules'));
    await writeFile(join(folder, 'calls.mjs'), CALLS);

    const { headers, rawBody } = signedDelivery({
      secret: emulator.webhookSecret,
      reference: 'order-1',
    });
    const event = {
      version: '2.0',
      requestContext: { http: { method: 'POST' } },
      headers,
      body: rawBody.toString('base64'),
      isBase64Encoded: true,
    };
    const { stdout } = await run(process.execPath, [join(folder, 'calls.mjs')], {
      cwd: tmpdir(),
      env: {
        PATH: process.env['PATH'],
        WEBHOOK_SECRET: emulator.webhookSecret,
        PAYLINK_BASE_URL: emulator.baseUrl,
        PAYLINK_API_KEY: emulator.apiKey,
        REFERENCES: 'order-1,order-2',
        CALLS: JSON.stringify([event, folder, ending]),
      } as unknown as NodeJS.ProcessEnv,
    });
    const { statuses, lines } = JSON.parse(stdout) as { statuses: number[]; lines: string[] };
    expect(statuses).toEqual([200, 200]);
    expect(lines.join()).toMatch(/^reconcile .*"credited":\{"count":2,/);
  },
  60_000,
);

it('the SAM template names the bundled functions, and refers only to its own resources', async () => {
  const referred: string[] = [];
  const tags = ['!Ref', '!Sub'].map((tag): ScalarTag => ({
    tag,
    resolve(text) {
      const names = Array.from(text.matchAll(/\$\{([\w:]+)\}/g), ([, name]) => name!);
      referred.push(...(tag === '!Ref' ? [text] : names));
      return text;
    },
  }));
  const { Parameters, Globals, Resources } = parse(
    await readFile(at('examples/lambda/template.yaml'), 'utf8'),
    { customTags: tags },
  ) as {
    Parameters: object;
    Globals: { Function: { Environment: { Variables: object } } };
    Resources: Record<string, { Properties: { Handler: string; Timeout: number } }>;
  };
  const known = Object.keys({ ...Parameters, ...Resources });
  const own = referred.filter((name) => !/^(AWS::|ServerlessHttpApi)/.test(name));
  expect(own.filter((name) => !known.includes(name))).toEqual([]);
  const command = await blockOf('docs/serverless.md', '--format=cjs');
  const entries = /esbuild (.*?) --bundle/.exec(command)![1]!.split(' ');
  expect(Object.values(Resources).map(({ Properties }) => Properties.Handler)).toEqual(
    entries.map((file) => file.replace(/ts$/, 'handler')),
  );
  const page = startPage('en', 'lambda');
  const settings = Array.from(
    page.matchAll(/process\.env\.([A-Z]+_[A-Z_]+)/g),
    ([, name]) => name!,
  );
  expect(Object.keys(Globals.Function.Environment.Variables)).toEqual(
    expect.arrayContaining(settings.filter((name) => name !== 'DATABASE_FILE')),
  );
});
