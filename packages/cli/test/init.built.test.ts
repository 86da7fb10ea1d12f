import { exec, execFile, execFileSync, execSync, spawn } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../../test/servers/starting.js';
import { newFolder, paylinkProcess, start, words } from './paylink.js';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const MODULES = at('../../../test/node_modules');
/** The quick compiler. test/types/matrix.built.test.ts has the versions. */
const TSC = at('../../../node_modules/typescript/bin/tsc');
const DRIVERS = at('../../../examples/databases/node_modules');
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

/** Links the packages of the tests and of the recipes, which replace a user's own packages. */
async function linkPackages(folder: string): Promise<void> {
  const target = join(folder, 'node_modules');
  for (const source of [MODULES, DRIVERS]) {
    for (const name of await readdir(source)) {
      const names = name.startsWith('@')
        ? (await readdir(join(source, name))).map((each) => `${name}/${each}`)
        : [name];
      for (const each of names) {
        await mkdir(join(target, each, '..'), { recursive: true });
        await symlink(join(source, each), join(target, each)).catch(() => undefined);
      }
    }
  }
}

async function project(
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-init-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await linkPackages(folder);
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
    module: 'ESNext',
    moduleResolution: 'Bundler',
    esModuleInterop: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    isolatedModules: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(MODULES, '../../node_modules/@types')],
  },
  include: ['**/*.ts'],
});

const inFolder = (folder: string, args: string[] = []) =>
  paylinkProcess(['init', ...args], { cwd: folder });

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

/** Each recipe, by the packages in package.json that select it. */
const DATABASES: Readonly<Record<string, readonly string[]>> = {
  pg: ['pg'],
  'postgres-js': ['postgres'],
  pglite: ['@electric-sql/pglite'],
  libsql: ['libsql'],
  'better-sqlite3': ['better-sqlite3'],
  mysql2: ['mysql2'],
  mariadb: ['mariadb'],
  drizzle: ['drizzle-orm', 'pg'],
  'drizzle-mysql': ['drizzle-orm', 'mysql2'],
  'drizzle-sqlite': ['drizzle-orm', 'better-sqlite3'],
  kysely: ['kysely', 'pg'],
  knex: ['knex', 'pg'],
  typeorm: ['typeorm', 'pg'],
  'typeorm-mysql': ['typeorm', 'mysql2'],
  sequelize: ['sequelize', 'pg'],
  'mikro-orm': ['@mikro-orm/core', '@mikro-orm/postgresql'],
  supabase: ['@supabase/supabase-js'],
  mongodb: ['mongodb'],
  mongoose: ['mongoose'],
  firestore: ['firebase-admin'],
  dynamodb: ['@aws-sdk/client-dynamodb'],
};

const namesOf = (names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, '*']));

describe('paylink init', () => {
  it('writes files for each host, each database and each new project that pass tsc --strict', async () => {
    // All projects share one folder, so that one compiler run checks them all.
    const root = await project({}, { 'tsconfig.json': TSCONFIG });
    const projects = [
      ...HOSTS.map(([framework, ...rest]) => [framework, 'memory', ...rest] as const),
      ...Object.entries(DATABASES).map(
        ([recipe, names]) => ['express', recipe, namesOf(['express', ...names]), {}] as const,
      ),
    ];
    await Promise.all(
      projects.map(async ([framework, recipe, dependencies, files]) => {
        const folder = join(root, `${framework}-${recipe}`);
        const manifest = { type: 'module', dependencies };
        await writeFiles(folder, manifest, { 'tsconfig.json': TSCONFIG, ...files });
        const args = ['--framework', framework];
        const { code, stdout, stderr } = await inFolder(folder, args);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).toContain(`${framework}, TypeScript, orders in ${recipe}\n`);
      }),
    );
    await Promise.all(
      ['express', 'fastify', 'koa', 'hono', 'node', 'next'].map(async (framework) => {
        const folder = join(root, `new-${framework}`);
        // Who installs the command first has a package.json.
        const manifest = { dependencies: { '@paylink/cli': '*' } };
        if (framework === 'express') await writeFiles(folder, manifest, {});
        else await mkdir(folder);
        const { code, stdout } = await inFolder(folder, ['--framework', framework]);
        expect({ code, server: /^ {2}new +(?:server|app\/page)\.tsx?$/m.test(stdout) }).toEqual({
          code: 0,
          server: true,
        });
        const again = await inFolder(folder, ['--framework', framework]);
        expect(again.stdout).toContain('Nothing to write.');
      }),
    );
    const compiled = run(process.execPath, [TSC, '--singleThreaded'], { cwd: root });
    await compiled.catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
  }, 300_000);

  it('writes a test on PostgreSQL that refuses to run without a database of its own', async () => {
    const folder = await project({ dependencies: { express: '5', pg: '8' } });
    const { stdout } = await inFolder(folder);
    await writeFile(join(folder, '.env'), 'DATABASE_URL=postgres://127.0.0.1:1/none\n');
    await expect(runPrinted(stdout, folder)).rejects.toMatchObject({
      stdout: expect.stringContaining('set TEST_DATABASE_URL') as string,
    });
  });

  it.each([
    ['vitest', 'npx --no-install vitest run src/payment-webhook.test.ts'],
    ['jest', 'npx --no-install jest src/payment-webhook.test.ts'],
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

  it('leads to the first credit if you follow its printed lines', async () => {
    const port = await freePort();
    const folder = await project(
      { dependencies: { express: '5', libsql: '*' }, scripts: { dev: 'node server.js' } },
      { '.env': 'PAYLINK_BASE_URL=http://127.0.0.1:4010/api\n' },
    );
    const server = `const express = require('express');
const { checkout } = require('./checkout');
const { paymentRoutes } = require('./payment-webhook');
const app = express();
app.use(paymentRoutes);
app.use(express.json());
app.post('/checkout', async (req, res) => res.json(await checkout(15_000)));
app.listen(${port}, () => console.log('ready'));
`;
    await writeFile(join(folder, 'server.js'), server);
    const { stdout } = await inFolder(folder, ['--shop-url', `http://localhost:${port}`]);
    expect(stdout).toContain("  const { paymentRoutes } = require('./payment-webhook');\n");
    expect(stdout).toContain('  app.use(paymentRoutes);');
    await runPrinted(stdout, folder, {}, 'create-orders-table');

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
    const { code } = await paylinkProcess(['pay', order.reference, '--dotenv', '.env'], {
      cwd: folder,
    });
    expect(code).toBe(0);
    await emulator.until(new RegExp(`${order.reference} → 200`));
    expect(await json(`/payments/${order.reference}`)).toEqual({ status: 'paid' });
    const explained = await paylinkProcess(
      ['explain', order.reference, '--module', 'payments.js', '--dotenv', '.env'],
      { cwd: folder },
    );
    expect(explained).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('acts next    nobody') as string,
    });
  });

  it.each([
    [
      'pnpm',
      { 'pnpm-lock.yaml': '' },
      ['pnpm exec vitest run payment-webhook.test.js', 'pnpm payments'],
    ],
    ['yarn', { 'yarn.lock': '' }, ['yarn vitest run payment-webhook.test.js', 'yarn payments']],
    ['npm', {}, ['npx --no-install vitest run payment-webhook.test.js', 'npm run payments']],
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
    ['nothing', {}, {}, 'memory', 'no database was found'],
    ['Mongoose', { mongoose: '*' }, {}, 'mongoose', 'table.init()'],
    [
      'an address of MongoDB',
      {},
      { '.env': 'MONGODB_URI=mongodb+srv://a.b/c\n' },
      'mongodb',
      'npm install --save-prod mongodb',
    ],
    ['Supabase', { '@supabase/supabase-js': '*' }, {}, 'supabase', 'ENABLE ROW LEVEL SECURITY'],
    ['the folder of Supabase', {}, { 'supabase/config.toml': '' }, 'supabase', 'TEST_SUPABASE_URL'],
    [
      'Supabase with a direct connection',
      { '@supabase/supabase-js': '*', pg: '*' },
      {},
      'pg',
      'TEST_DATABASE_URL',
    ],
    ['Firestore', { 'firebase-admin': '*' }, {}, 'firestore', 'create a composite index'],
    [
      'DynamoDB',
      { '@aws-sdk/client-dynamodb': '*' },
      {},
      'dynamodb',
      'npm install --save-prod @aws-sdk/lib-dynamodb',
    ],
    ['SQL Server', { tedious: '*' }, {}, 'memory', 'SQL Server has no recipe'],
    ['Workers', { wrangler: '*' }, {}, 'memory', 'Cloudflare has no recipe'],
    [
      'Prisma on MongoDB',
      { '@prisma/client': '*' },
      { 'prisma/schema.prisma': 'datasource db {\n  provider = "mongodb"\n}\n' },
      'memory',
      'Prisma on mongodb has no recipe',
    ],
    [
      'Prisma on SQLite',
      { '@prisma/client': '*' },
      { 'prisma/schema.prisma': 'datasource db {\n  provider = "sqlite"\n}\n' },
      'prisma-sqlite',
      'TEST_DATABASE_FILE',
    ],
    ['an address of MySQL', {}, { '.env': 'DATABASE_URL=mysql://a@b/c\n' }, 'mysql2', 'mysql2'],
    [
      'Knex on MySQL',
      { knex: '*', mysql2: '*' },
      {},
      'mysql2',
      'orders.js uses mysql2 alongside your Knex, which has no recipe',
    ],
    [
      'TypeORM on PostgreSQL in CommonJS',
      { typeorm: '*', pg: '*' },
      {},
      'pg',
      'orders.js uses pg alongside your TypeORM, which has no recipe',
    ],
    ['TypeORM on MySQL', { typeorm: '*', mysql2: '*' }, {}, 'typeorm-mysql', 'TEST_DATABASE_URL'],
    [
      'Prisma by the older generator, in a schema of several files',
      { '@prisma/client': '^6.1.0' },
      {
        'prisma.config.ts': 'export default { schema: "./db" };',
        'db/base.prisma':
          'generator client {\n  provider = "prisma-client-js"\n  output = "../lib/db"\n}\n',
        'db/source.prisma': 'datasource db {\n  provider = "postgresql"\n}\n',
      },
      'prisma',
      "require('./lib/db/index')",
    ],
    [
      'Prisma on MySQL',
      { '@prisma/client': '*' },
      { 'prisma/schema.prisma': 'datasource db {\n  provider = "mysql"\n}\n' },
      'prisma-mysql',
      'model Order {',
    ],
    [
      'Prisma with a folder of its own',
      { '@prisma/client': '*' },
      {
        'prisma/schema.prisma':
          'generator client {\n  output = "../generated/prisma"\n}\ndatasource db {\n  provider = "postgresql"\n}\n',
      },
      'prisma',
      "require('./generated/prisma/client')",
    ],
  ])('finds %s', async (_, dependencies, files, recipe, said) => {
    const folder = await project({ dependencies: { koa: '3', ...dependencies } }, files);
    const { stdout } = await inFolder(folder);
    expect(stdout).toContain(`koa, JavaScript, orders in ${recipe}\n`);
    expect(stdout + (await readFile(join(folder, 'orders.js'), 'utf8'))).toContain(said);
    if (recipe === 'mysql2') expect(stdout).not.toMatch(/postgres/i);
  });

  it('installs for production what package.json has for development alone', async () => {
    const folder = await project({
      dependencies: { koa: '3' },
      devDependencies: { libsql: '*', '@paylink/koa': '*', '@paylink/emulator': '*' },
    });
    const { stdout } = await inFolder(folder, ['--dry-run']);
    expect(stdout).toMatch(/^ {2}npm install --save-prod libsql$/m);
    expect(stdout).toMatch(/pack:all koa client payments cli testing /);
    expect(stdout).not.toContain('@paylink/core');
  });

  it('writes nothing if a file cannot be written', async () => {
    const folder = await project({ dependencies: { koa: '3' } }, { 'payment-webhook.js': '' });
    await chmod(join(folder, 'payment-webhook.js'), 0o444);
    // The superuser may write everywhere.
    const isRefused = process.getuid?.() !== 0;
    const { code, stderr } = await inFolder(folder, ['--force']);
    expect(code).toBe(isRefused ? 2 : 0);
    if (!isRefused) return;
    expect(stderr).toContain('nothing was written: payment-webhook.js cannot be written');
    await expect(stat(join(folder, '.env'))).rejects.toThrow('ENOENT');
  });

  it('lists the files and writes nothing with --dry-run', async () => {
    const folder = await project({ dependencies: { koa: '3' } });
    const { code, stdout } = await inFolder(folder, ['--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}new +payment-webhook\.js\n/m);
    expect(stdout).toMatch(/^ {2}adds to +package\.json\n/m);
    await expect(stat(join(folder, 'payment-webhook.js'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlink('/dev/zero', path)],
    ['UTF-16', (path: string) => writeFile(path, '\uFEFFSHOP_URL=\n', 'utf16le')],
    ['UTF-16 without a mark', (path: string) => writeFile(path, 'SHOP_URL=\n', 'utf16le')],
    ['UTF-8 with a byte order mark', (path: string) => writeFile(path, '\uFEFFSHOP_URL=\n')],
  ])(
    'says what is wrong with a .gitignore that is %s, and writes nothing',
    { tags: 'R08' },
    async (_, make) => {
      const folder = await project({ dependencies: { koa: '3' } });
      await make(join(folder, '.gitignore'));
      const { code, stderr } = await inFolder(folder);
      expect(code).toBe(2);
      expect(stderr).toMatch(/\.gitignore cannot be read \(it (?:is a|is UTF-16|begins)/);
      await expect(stat(join(folder, 'checkout.js'))).rejects.toThrow('ENOENT');
    },
  );

  it('takes another address on a later run, and keeps the script of a stranger', async () => {
    const folder = await project(
      { scripts: { payments: 'node my-payments.js' }, dependencies: { koa: '3' } },
      { 'index.js': 'app.listen(4444)' },
    );
    const { stdout } = await inFolder(folder);
    expect(stdout).toContain('npm run paylink ');
    expect(await readFile(join(folder, '.env'), 'utf8')).toContain(
      'SHOP_URL=http://localhost:4444\n',
    );
    await inFolder(folder, ['--shop-url', 'http://localhost:5555/shop']);
    expect(await readFile(join(folder, '.env'), 'utf8')).toMatch(
      /^SHOP_URL=http:\/\/localhost:5555\/shop$/m,
    );
    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      scripts: object;
    };
    expect(scripts).toEqual({
      payments: 'node my-payments.js',
      paylink: expect.stringContaining('localhost:5555/shop/webhooks/payments') as string,
    });
    expect((await inFolder(folder)).stdout).toContain('Nothing to write.');
  });

  it.each<[code: string, dependencies: object, files: Readonly<Record<string, string>>]>([
    ['http://localhost:3000/', { express: '5' }, { 'app.js': '// app.listen(9999)' }],
    ['http://localhost:8081/', { express: '5' }, { 'app.js': 'app.listen({ port: 8081 })' }],
    [
      'http://localhost:8082/',
      { koa: '3' },
      { 'src/main.js': 'listen(process.env.PORT ?? "8082")' },
    ],
    [
      'http://localhost:8083/',
      { koa: '3' },
      { 'index.js': 'app.listen(process.env.PORT || 3000)', '.env': 'PORT=8083\n' },
    ],
    [
      'http://localhost:8084/v1/',
      { hono: '4' },
      {
        'index.js':
          'new Hono().basePath("/v1"); serve({ fetch, port: 8084, hostname: "127.0.0.1" })',
      },
    ],
    ['http://localhost:3000/shop/api/', { next: '16' }, { 'next.config.mjs': 'basePath: "/shop"' }],
  ])('finds the address %s in the code', async (address, dependencies, files) => {
    const { stdout } = await inFolder(await project({ dependencies }, files), ['--dry-run']);
    expect(stdout).toContain(`must answer at ${address}webhooks/payments`);
  });

  it('adds the file of a SQLite database to .gitignore, with the files beside it', async () => {
    const folder = await project({ dependencies: { koa: '3', libsql: '*' } });
    await inFolder(folder);
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('.env\nshop.db*\n');
  });

  it('takes the port and the global prefix of --shop-url, and the webhook of Nest has no prefix', async () => {
    const folder = await project(
      { dependencies: { '@nestjs/core': '11', express: '5' } },
      { 'tsconfig.json': TSCONFIG },
    );
    const { stdout } = await inFolder(folder, ['--shop-url', 'http://localhost:8080/api']);
    expect(stdout).toContain(
      'must answer at http://localhost:8080/webhooks/payments: for another port',
    );
    expect(await readFile(join(folder, '.env'), 'utf8')).toContain(
      'SHOP_URL=http://localhost:8080/api\n',
    );
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toContain(
      '--webhook http://localhost:8080/webhooks/payments"',
    );
  });

  it('names the command that ends the tracking of .env, and only if git tracks it', async () => {
    const cwd = newFolder();
    execFileSync('git', ['init', '-q'], { cwd });
    await writeFile(join(cwd, 'package.json'), '{"dependencies":{"express":"^5.0.0"}}');
    const untracked = await paylinkProcess(['init'], { cwd });
    expect(untracked.stdout).not.toContain('git rm');
    execSync('git add -f .env', { cwd });
    const tracked = await paylinkProcess(words`init --force`, { cwd });
    const [, command = ''] = /^ {2}(git rm .*)$/m.exec(tracked.stdout) ?? [];
    expect(command).toContain('.env');
    execSync(command, { cwd });
    expect((await paylinkProcess(words`init --force`, { cwd })).stdout).not.toContain('git rm');
  });

  it.each([
    [
      'the folder has no package.json',
      undefined,
      [],
      /no readable package\.json[^]*--framework express/,
    ],
    [
      'a new project needs its own tool',
      undefined,
      ['--framework', 'nest'],
      /create the nest project with its own tool/,
    ],
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
      /folder has no tsconfig\.json[^]*is TypeScript/,
    ],
    [
      'the framework is unknown',
      {},
      ['--framework', 'rails'],
      /'--framework <name>' is invalid\. Allowed choices are next, express/,
    ],
  ])('exits with 2 if %s', async (_, manifest, args, message) => {
    const folder = manifest === undefined ? newFolder() : await project(manifest);
    const result = await inFolder(folder, args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
