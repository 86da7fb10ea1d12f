/** What `paylink init` finds in a project, and the lines that it prints. */
import { execFileSync, execSync } from 'node:child_process';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder, paylink } from './paylink.js';

type Files = Readonly<Record<string, string>>;

/** A project in TypeScript: the bundle of these tests has no templates in JavaScript. */
async function project(manifest: object, files: Files = {}): Promise<string> {
  const folder = newFolder();
  await writeFiles(folder, manifest, files);
  return folder;
}

async function writeFiles(folder: string, manifest: object, files: Files = {}): Promise<void> {
  const all = { 'package.json': JSON.stringify(manifest), 'tsconfig.json': '{}', ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const inFolder = (cwd: string, args: readonly string[] = []) => paylink(['init', ...args], { cwd });

describe('paylink init', () => {
  it.each([
    ['vitest', 'npx --no-install vitest run src/payment-webhook.test.ts'],
    ['jest', 'npx --no-install jest src/payment-webhook.test.ts'],
    ['tsx', 'node --import tsx --test src/payment-webhook.test.ts'],
  ])(
    'prints a command that names the test if a TypeScript project has %s',
    async (runner, line) => {
      const files = { 'src/index.ts': 'export {};\n' };
      const folder = await project(
        { dependencies: { hono: '4' }, devDependencies: { [runner]: '*' } },
        files,
      );
      expect((await inFolder(folder, ['--dry-run'])).stdout.split('\n')).toContain(`  ${line}`);
    },
  );

  it.each([
    [
      'pnpm',
      { 'pnpm-lock.yaml': '' },
      ['pnpm exec vitest run payment-webhook.test.ts', 'pnpm payments'],
    ],
    ['yarn', { 'yarn.lock': '' }, ['yarn vitest run payment-webhook.test.ts', 'yarn payments']],
    ['npm', {}, ['npx --no-install vitest run payment-webhook.test.ts', 'npm run payments']],
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
    await writeFiles(api, { dependencies: { koa: '3' } });
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
      'orders.ts uses mysql2 alongside your Knex, which has no recipe',
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
      "from './lib/db/index'",
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
      "from './generated/prisma/client'",
    ],
  ])('finds %s', async (_, dependencies, files, recipe, said) => {
    const folder = await project({ dependencies: { koa: '3', ...dependencies } }, files);
    const { stdout } = await inFolder(folder);
    expect(stdout).toContain(`koa, TypeScript, orders in ${recipe}\n`);
    expect(stdout + (await readFile(join(folder, 'orders.ts'), 'utf8'))).toContain(said);
    if (recipe === 'mysql2') expect(stdout).not.toMatch(/postgres/i);
  });

  it('installs for production what package.json has for development alone', async () => {
    const folder = await project({
      dependencies: { koa: '3' },
      devDependencies: { libsql: '*', '@paylink/koa': '*', '@paylink/emulator': '*' },
    });
    const { stdout } = await inFolder(folder, ['--dry-run']);
    expect(stdout).toMatch(/^ {2}npm install --save-prod libsql tsx$/m);
    expect(stdout).toMatch(/pack:all koa client payments cli testing /);
    expect(stdout).not.toContain('@paylink/core');
  });

  it('writes nothing if a file cannot be written', async () => {
    const folder = await project({ dependencies: { koa: '3' } }, { 'payment-webhook.ts': '' });
    await chmod(join(folder, 'payment-webhook.ts'), 0o444);
    // The superuser may write everywhere.
    const isRefused = process.getuid?.() !== 0;
    const { code, stderr } = await inFolder(folder, ['--force']);
    expect(code).toBe(isRefused ? 2 : 0);
    if (!isRefused) return;
    expect(stderr).toContain('nothing was written: payment-webhook.ts cannot be written');
    await expect(stat(join(folder, '.env'))).rejects.toThrow('ENOENT');
  });

  it('lists the files and writes nothing with --dry-run', async () => {
    const folder = await project({ dependencies: { koa: '3' } });
    const { code, stdout } = await inFolder(folder, ['--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}new +payment-webhook\.ts\n/m);
    expect(stdout).toMatch(/^ {2}adds to +package\.json\n/m);
    await expect(stat(join(folder, 'payment-webhook.ts'))).rejects.toThrow('ENOENT');
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
      await expect(stat(join(folder, 'checkout.ts'))).rejects.toThrow('ENOENT');
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
    const folder = await project({ dependencies: { '@nestjs/core': '11', express: '5' } });
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
    const cwd = await project({ dependencies: { express: '5' } });
    execFileSync('git', ['init', '-q'], { cwd });
    const untracked = await inFolder(cwd);
    expect(untracked.stdout).not.toContain('git rm');
    execSync('git add -f .env', { cwd });
    const tracked = await inFolder(cwd, ['--force']);
    const [, command = ''] = /^ {2}(git rm .*)$/m.exec(tracked.stdout) ?? [];
    expect(command).toContain('.env');
    execSync(command, { cwd });
    expect((await inFolder(cwd, ['--force'])).stdout).not.toContain('git rm');
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

  it('exits with 2 if Nest runs in plain JavaScript', async () => {
    const folder = newFolder();
    await writeFile(join(folder, 'package.json'), '{"dependencies":{"@nestjs/core":"11"}}');
    const { code, stderr } = await inFolder(folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/folder has no tsconfig\.json[^]*is TypeScript/);
  });
});
