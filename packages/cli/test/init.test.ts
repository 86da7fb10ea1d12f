import { exec, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';
import { freePort } from '../../../test/servers/starting.js';
import { newFolder, paylink, start } from './paylink.js';
import { inTerminal } from './terminal.js';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
// The tests' packages replace a user's installed packages.
const MODULES = fileURLToPath(new URL('../../../test/node_modules', import.meta.url));
const JEST = join(
  fileURLToPath(new URL('../../../examples/jest', import.meta.url)),
  'node_modules/jest',
);

/** Runs the printed line of `init` for a file. */
async function runPrinted(
  stdout: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  file = 'webhook.(?:test|spec)',
): Promise<string> {
  const line = new RegExp(`^ {2}((?:node|npx) .*${file}.*)$`, 'm').exec(stdout)![1]!;
  const environment = { PATH: process.env['PATH'], HOME: newFolder(), TMPDIR: newFolder(), ...env };
  const said = await promisify(exec)(line, {
    cwd,
    env: environment as unknown as NodeJS.ProcessEnv,
  });
  return said.stdout + said.stderr;
}

async function project(
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-init-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(MODULES, join(folder, 'node_modules'));
  await writeFiles(folder, manifest, files);
  return folder;
}

async function writeFiles(
  folder: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, content] of Object.entries({
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    ...files,
  })) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    lib: ['ES2023'],
    // For the emulator's sources.
    jsx: 'react-jsx',
    jsxImportSource: 'hono/jsx',
    module: 'ESNext',
    moduleResolution: 'Bundler',
    esModuleInterop: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    isolatedModules: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(MODULES, '../../node_modules/@types')],
    customConditions: ['@paylink/source'],
    allowImportingTsExtensions: true,
  },
  include: ['**/*.ts'],
});

const inFolder = (folder: string, args: string[]) => paylink(['init', ...args], { cwd: folder });

const WITH_DATABASE = { pg: '^8.0.0' };

const HOSTS: readonly (readonly [
  framework: string,
  dependencies: object,
  files: Readonly<Record<string, string>>,
])[] = [
  ['express', { express: '^5.0.0' }, {}],
  ['fastify', { fastify: '^5.0.0' }, { 'src/index.ts': 'export {};\n' }],
  ['koa', { koa: '^3.0.0' }, {}],
  ['hono', { hono: '^4.0.0' }, {}],
  ['nest', { '@nestjs/core': '^11.0.0', express: '^5.0.0' }, { 'src/main.ts': 'export {};\n' }],
  ['lambda', { '@types/aws-lambda': '^8.0.0' }, {}],
  ['node', {}, {}],
  ['next-app', { next: '^16.0.0' }, { 'app/page.tsx': '' }],
  ['next-pages', { next: '^16.0.0' }, { 'pages/index.tsx': '' }],
];

describe('paylink init', () => {
  let database: PostgresServer;
  beforeAll(async () => {
    database = await startPostgres({ fsync: 'off' });
  });
  afterAll(() => database.close());

  /** Runs the two printed lines of `init` for a project with a database. */
  async function migrateAndTest(stdout: string, folder: string): Promise<string> {
    const env = { DATABASE_URL: database.url };
    await runPrinted(stdout, folder, env, 'migrate');
    return runPrinted(stdout, folder, env);
  }

  it('writes files for each host that pass tsc --strict and their own test', async () => {
    // All projects share one folder, so that one compiler run checks them all.
    const root = await project({}, { 'tsconfig.json': TSCONFIG });
    const tests = await Promise.all(
      HOSTS.flatMap((host) => [
        { host, added: WITH_DATABASE },
        { host, added: {} },
      ]).map(async ({ host: [framework, dependencies, files], added }) => {
        const hasDatabase = 'pg' in added;
        const folder = join(root, `${framework}-${hasDatabase ? 'postgres' : 'memory'}`);
        await writeFiles(
          folder,
          { type: 'module', dependencies: { ...dependencies, ...added } },
          { 'tsconfig.json': TSCONFIG, ...files },
        );
        const { code, stdout, stderr } = await inFolder(folder, [
          '--yes',
          '--framework',
          framework,
        ]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).toContain(`${framework}, TypeScript, `);
        return { framework, hasDatabase, folder, stdout };
      }),
    );
    await run(process.execPath, [join(MODULES, 'typescript/bin/tsc')], { cwd: root }).catch(
      (error: unknown) => {
        throw new Error((error as { stdout: string }).stdout);
      },
    );
    for (const { framework, hasDatabase, folder, stdout } of tests) {
      // The orders in memory are the same on every host except Next.js.
      if (!hasDatabase && !['koa', 'next-app'].includes(framework)) continue;
      const said = hasDatabase
        ? await migrateAndTest(stdout, folder)
        : await runPrinted(stdout, folder);
      expect(said).toMatch(/# pass 4\n# fail 0/);
    }
  }, 300_000);

  it.each([
    ['express', 'CommonJS', {}],
    ['express', 'ES modules', { type: 'module' }],
    ['fastify', 'CommonJS', {}],
    ['koa', 'CommonJS', {}],
    ['hono', 'CommonJS', {}],
    ['next-pages', 'ES modules', {}],
    ['node', 'ES modules', { type: 'module' }],
    ['lambda', 'CommonJS', {}],
  ])('writes JavaScript for %s in %s that passes its test', async (framework, _, type) => {
    const folder = await project({ ...type, dependencies: WITH_DATABASE });
    const { code, stdout } = await inFolder(folder, ['--yes', '--framework', framework]);
    expect(code).toBe(0);
    expect(await migrateAndTest(stdout, folder)).toMatch(/# pass 4\n# fail 0/);
  });

  it.each([
    ['CommonJS', {}],
    ['ES modules', { type: 'module' }],
  ])('prints a command that runs the test with jest in %s', async (_, type) => {
    const folder = newFolder();
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    for (const name of ['express', '@paylink'])
      await symlink(join(MODULES, name), join(folder, 'node_modules', name));
    await symlink(JEST, join(folder, 'node_modules/jest'));
    await symlink(join(JEST, 'bin/jest.js'), join(folder, 'node_modules/.bin/jest'));
    await writeFiles(
      folder,
      { ...type, dependencies: { express: '*' }, devDependencies: { jest: '*' } },
      {},
    );
    const { stdout } = await inFolder(folder, ['--yes']);
    expect(await runPrinted(stdout, folder)).toMatch(/^Tests: +4 passed, 4 total$/m);
  });

  it.each([
    ['vitest', 'npx vitest run src/payment-webhook.test.ts'],
    ['jest', 'npx jest src/payment-webhook.test.ts'],
    ['tsx', 'node --import tsx --test src/payment-webhook.test.ts'],
  ])(
    'prints a command that names the test if a TypeScript project has %s',
    async (runner, line) => {
      const files = { 'tsconfig.json': TSCONFIG, 'src/index.ts': 'export {};\n' };
      const folder = await project(
        { dependencies: { hono: '4' }, devDependencies: { [runner]: '*' } },
        files,
      );
      expect((await inFolder(folder, ['--dry-run'])).stdout.split('\n')).toContain(`  ${line}`);
    },
  );

  it('adds missing lines, prints no secret, and changes nothing on a second run', async () => {
    const env = 'WEBHOOK_SECRET=mine-and-kept-0123456789\nSHOP_URL=\n# a comment';
    const folder = await project(
      { dependencies: { express: '5' }, scripts: { start: 'node .' } },
      { '.env': env, '.gitignore': 'dist\n' },
    );
    const { stdout } = await inFolder(folder, ['--yes']);
    const written = await readFile(join(folder, '.env'), 'utf8');
    expect(written.startsWith(`${env}\nPAYLINK_API_KEY=sk_live_`)).toBe(true);
    expect(written).toContain('PAYLINK_BASE_URL=');
    expect(written).toContain('SHOP_URL=http://localhost:3000\n');
    expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain('sk_live_');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('dist\n.env\n');
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      scripts: {
        start: 'node .',
        payments: expect.stringContaining('paylink emulate --dotenv .env') as string,
      },
    });
    expect((await inFolder(folder, ['--yes'])).stdout).toContain('Nothing to write.');
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe(written);
  });

  it('leads to the first credit if you follow its printed lines', async () => {
    const port = await freePort();
    const folder = await project(
      { dependencies: { express: '5', ...WITH_DATABASE }, scripts: { dev: 'node server.js' } },
      { '.env': `DATABASE_URL=${database.url}\nPAYLINK_BASE_URL=http://127.0.0.1:4010/api\n` },
    );
    const server = `const express = require('express');
const { createOrder, isPaid } = require('./payment-orders');
const { paymentRoutes } = require('./payment-webhook');
const app = express();
app.use(paymentRoutes);
app.use(express.json());
app.post('/checkout', async (req, res) => res.json(await createOrder(15_000)));
app.get('/paid/:reference', async (req, res) => res.json(await isPaid(req.params.reference)));
app.listen(${port}, () => console.log('ready'));
`;
    await writeFile(join(folder, 'server.js'), server);
    const { stdout } = await inFolder(folder, ['--yes']);
    expect(stdout).toContain('  app.use(paymentRoutes);');
    await runPrinted(stdout, folder, {}, 'migrate');

    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      scripts: { payments: string };
    };
    const emulate = scripts.payments.replace(/^paylink /, '').split(' ');
    expect(emulate).toContain(`http://localhost:${port}/webhooks/payments`);
    const emulator = start([...emulate, '--port', '0'], {}, folder);
    const [, api] = await emulator.until(/API +(http\S+)/);

    const dotenv = await readFile(join(folder, '.env'), 'utf8');
    await writeFile(join(folder, '.env'), dotenv.replace('http://127.0.0.1:4010/api', api!));
    const environment = { PATH: process.env['PATH'] } as unknown as NodeJS.ProcessEnv;
    const shop = spawn('npm', ['run', 'dev'], { cwd: folder, env: environment, detached: true });
    onTestFinished(() => void process.kill(-shop.pid!));
    let said = '';
    for await (const chunk of shop.stdout) if ((said += String(chunk)).includes('ready')) break;
    expect(said).toContain('ready');

    const json = async (path: string, init?: RequestInit): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, init)).json();
    const order = (await json('/checkout', { method: 'POST' })) as { reference: string };
    const { code } = await paylink(['pay', order.reference, '--dotenv', '.env'], { cwd: folder });
    expect(code).toBe(0);
    await emulator.until(new RegExp(`${order.reference} → 200`));
    expect(await json(`/paid/${order.reference}`)).toBe(true);
    expect(await json(`/payments/${order.reference}`)).toEqual({ status: 'success' });
  });

  it.each([
    [
      'pnpm',
      { 'pnpm-lock.yaml': '' },
      ['pnpm exec vitest run payment-webhook.test.js', 'pnpm payments'],
    ],
    ['yarn', { 'yarn.lock': '' }, ['yarn vitest run payment-webhook.test.js', 'yarn payments']],
    ['npm', {}, ['npx vitest run payment-webhook.test.js', 'npm run payments']],
  ])('prints the commands of %s', async (manager, files, lines) => {
    const folder = await project(
      { dependencies: { koa: '3' }, devDependencies: { vitest: '4' } },
      files,
    );
    const { stdout } = await inFolder(folder, ['--dry-run']);
    for (const line of lines) expect(stdout).toContain(`\n  ${line}`);
    if (manager !== 'npm') expect(stdout).not.toMatch(/^ {2}np[mx] (?:run|install|vitest)/m);
  });

  it('uses the package manager of the surrounding monorepo', async () => {
    const root = await project({ workspaces: ['apps/*'] }, { 'yarn.lock': '' });
    const api = join(root, 'apps/api');
    await writeFiles(api, { dependencies: { koa: '3' } }, {});
    expect((await inFolder(api, ['--dry-run'])).stdout).toContain('\n  yarn payments');
  });

  it.each([
    ['workspaces', { workspaces: ['apps/*', 'libs/*'] }, {}],
    ['pnpm-workspace.yaml', {}, { 'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n  - libs/*\n" }],
  ])(
    'lists the packages that have a server if it runs at the root of a monorepo with %s',
    async (_, manifest, files) => {
      const root = await project(manifest, files);
      await writeFiles(join(root, 'apps/api'), { dependencies: { fastify: '5' } }, {});
      await writeFiles(join(root, 'apps/site'), { dependencies: { next: '16' } }, {});
      await writeFiles(join(root, 'libs/words'), {}, {});
      const { code, stderr } = await inFolder(root, []);
      expect(code).toBe(2);
      expect(stderr).toMatch(/root of a monorepo[^]*cd apps\/api && paylink init[^]*cd apps\/site/);
      expect(stderr).not.toContain('words');
    },
  );

  it('detects the global prefix, the body parser, the missing raw body and the port of Nest', async () => {
    const main = `import { json } from 'express';
const app = await NestFactory.create(AppModule);
app.setGlobalPrefix('api');
app.use(json());
await app.listen(process.env.PORT ?? 8080);
`;
    const folder = await project(
      { dependencies: { '@nestjs/core': '11', express: '5' } },
      { 'tsconfig.json': TSCONFIG, 'src/main.ts': main },
    );
    const { stdout } = await inFolder(folder, ['--dry-run']);
    expect(stdout).toContain('--webhook http://localhost:8080/api/webhooks/payments');
    expect(stdout).toContain('src/main.ts:2: write NestFactory.create(…, { rawBody: true })');
    expect(stdout).toContain('src/main.ts:4 mounts a body parser: use app.useBodyParser()');
    expect(stdout).toContain('global prefix /api');
  });

  it('names a body parser that is mounted for all routes', async () => {
    const app = 'const app = express();\n// app.use(express.text())\napp.use(express.json());\n';
    const folder = await project({ dependencies: { express: '5' } }, { 'lib/app.js': app });
    const { stdout } = await inFolder(folder, ['--dry-run']);
    expect(stdout).toContain('lib/app.js:3 mounts a body parser: mount the routes above');
  });

  it('names the memory store line to replace if there is no PostgreSQL', async () => {
    const folder = await project({ dependencies: { koa: '3', mysql2: '3', 'drizzle-orm': '1' } });
    const { stdout } = await inFolder(folder, ['--yes']);
    expect(stdout).toMatch(/^koa, JavaScript, no PostgreSQL$/m);
    expect(stdout).toMatch(/before customers pay: replace "export const store = memoryStore\(\);"/);
    const payments = await readFile(join(folder, 'payments.js'), 'utf8');
    expect(payments).toMatch(/\/\/ Before customers pay, replace this line[^]*memoryStore\(\)/);
  });

  it.each([
    ['pg', { pg: '8' }, 'pg'],
    ['Neon', { '@neondatabase/serverless': '1' }, '@neondatabase/serverless'],
    ['Kysely', { kysely: '1' }, 'pg'],
    ['Prisma', { '@prisma/client': '7' }, 'pg'],
  ])('credits through a database pool in a project with %s', async (kind, dependency, module) => {
    const schema = 'datasource db {\n  provider = "postgresql"\n}\n';
    const folder = await project(
      { dependencies: { koa: '3', ...dependency } },
      { 'prisma/schema.prisma': schema },
    );
    const { stdout } = await inFolder(folder, ['--dry-run']);
    expect(stdout).toContain(`+ const { Pool } = require('${module}');`);
    expect(stdout).toContain('+ const store = postgresStore(pool);');
    const isOrm = ['Kysely', 'Prisma'].includes(kind);
    expect(stdout.includes('// A pool beside ')).toBe(isOrm);
  });

  it.each([
    ['payments.js leads to a file', 'payments.js', 'file.js'],
    ['.env leads to a file', '.env', 'secrets'],
    ['payments.js leads nowhere', 'payments.js', 'nowhere'],
  ])('writes nothing through a symbolic link out of the folder if %s', async (_, path, target) => {
    const outside = newFolder();
    if (target !== 'nowhere') await writeFile(join(outside, target), 'KEPT=1\n');
    const folder = await project({ dependencies: { koa: '3' } });
    await symlink(join(outside, target), join(folder, path));
    const { code, stderr } = await inFolder(folder, ['--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${path} is a symbolic link out of this folder`);
    await expect(stat(join(folder, 'payment-orders.js'))).rejects.toThrow('ENOENT');
    if (target !== 'nowhere')
      expect(await readFile(join(outside, target), 'utf8')).toBe('KEPT=1\n');
  });

  it('writes no secret through a symbolic link to a tracked file', async () => {
    const folder = await project({ dependencies: { koa: '3' } }, { '.env.example': 'KEPT=1\n' });
    await symlink('.env.example', join(folder, '.env'));
    const { code, stderr } = await inFolder(folder, ['--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain('.env is a symbolic link, perhaps to a file that git keeps');
    expect(await readFile(join(folder, '.env.example'), 'utf8')).toBe('KEPT=1\n');
  });

  it('runs no program that the git settings of the repository name', async () => {
    const folder = await project({ dependencies: { koa: '3' } });
    await run('git', ['init', '--quiet'], { cwd: folder });
    await writeFile(join(folder, 'monitor.sh'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 });
    await run('git', ['config', 'core.fsmonitor', './monitor.sh'], { cwd: folder });
    expect((await inFolder(folder, ['--dry-run'])).code).toBe(0);
    await expect(stat(join(folder, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('writes nothing into a folder that is a symbolic link', async () => {
    const outside = newFolder();
    const folder = await project({ dependencies: { koa: '3' } });
    await symlink(outside, join(folder, 'src'));
    expect((await inFolder(folder, ['--yes'])).code).toBe(2);
    expect(await readdir(outside)).toEqual([]);
  });

  it('asks git whether .env is ignored', async () => {
    const folder = await project(
      { dependencies: { koa: '3' } },
      { '.gitignore': '.env*\n!.env\n' },
    );
    await run('git', ['init', '--quiet'], { cwd: folder });
    await inFolder(folder, ['--yes']);
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('.env*\n!.env\n.env\n');

    await mkdir(join(folder, 'apps/api'), { recursive: true });
    await writeFiles(join(folder, 'apps/api'), { dependencies: { koa: '3' } }, {});
    const { stdout } = await inFolder(join(folder, 'apps/api'), ['--yes']);
    expect(stdout).not.toContain('.gitignore');
    await expect(stat(join(folder, 'apps/api/.gitignore'))).rejects.toThrow('ENOENT');
  });

  it('prints the git command that untracks a tracked .env', async () => {
    const folder = await project({ dependencies: { koa: '3' } }, { '.env': 'A=1\n' });
    await run('git', ['init', '--quiet'], { cwd: folder });
    await run('git', ['add', '.env'], { cwd: folder });
    expect((await inFolder(folder, ['--dry-run'])).stdout).toContain('  git rm --cached .env');
  });

  it('prints the changes and writes nothing with --dry-run or without a terminal', async () => {
    const folder = await project({ dependencies: { koa: '3' } });
    const dry = await inFolder(folder, ['--dry-run']);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(
      /^new payment-webhook\.js\n {2}\+ const \{ paymentWebhook \} = require\('@paylink\/koa'\);$/m,
    );
    const piped = await inFolder(folder, []);
    expect(piped.code).toBe(2);
    expect(piped.stderr).toMatch(/cannot ask without a terminal/);
    await expect(stat(join(folder, 'payment-webhook.js'))).rejects.toThrow('ENOENT');
  });

  it('asks for confirmation at a terminal before it overwrites a file', async () => {
    const folder = await project(
      { dependencies: { koa: '3' } },
      { 'payment-webhook.js': '// mine\n' },
    );
    const no = await inTerminal(
      ['init'],
      {},
      [{ after: /over your payment-webhook\.js\? \[y\/N\]/, send: 'n\r' }],
      folder,
    );
    expect(no.code).toBe(1);
    expect(await readFile(join(folder, 'payment-webhook.js'), 'utf8')).toBe('// mine\n');
    const yes = await inTerminal(['init'], {}, [{ after: /\[y\/N\]/, send: 'y\r' }], folder);
    expect(yes.code).toBe(0);
    expect(await readFile(join(folder, 'payment-webhook.js'), 'utf8')).toContain('@paylink/koa');
  });

  it.each([
    ['there is no package.json', undefined, [], /folder has no package\.json/],
    ['no framework is found', {}, [], /--framework/],
    [
      'two frameworks are found',
      { dependencies: { koa: '3', express: '5' } },
      [],
      /express and koa[^]*--framework express\|koa/,
    ],
    [
      'Nest runs in plain JavaScript',
      { dependencies: { '@nestjs/core': '11' } },
      [],
      /folder has no tsconfig\.json[^]*TypeScript, with decorators/,
    ],
    [
      'the framework is unknown',
      {},
      ['--framework', 'rails'],
      /unknown framework rails\. Valid names: next, express/,
    ],
  ])('exits with 2 if %s', async (_, manifest, args, message) => {
    const folder = manifest === undefined ? newFolder() : await project(manifest);
    const result = await inFolder(folder, args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
