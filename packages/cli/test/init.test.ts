/** The files that `paylink init` writes. init.built.test.ts runs them. */
import { execFile, execFileSync, execSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { KNOWN } from '../src/init/databases.js';
import { FRAMEWORKS } from '../src/init/hosts.js';
import { COMMAND, newFolder, paylink, words, type Result } from './paylink.js';

const KOA = { dependencies: { koa: '3' } };

/** A project in TypeScript: the bundle of these tests has no templates in JavaScript. */
function project(
  files: Readonly<Record<string, string>> = {},
  manifest: object = { ...KOA, scripts: { start: 'node .' } },
): string {
  const folder = newFolder();
  const all = { 'package.json': JSON.stringify(manifest), 'tsconfig.json': '{}', ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const PRISMA = { '@prisma/client': '*' };
const schemaOf = (provider: string) => ({
  'prisma/schema.prisma': `datasource db {\n  provider = "${provider}"\n}\n`,
});

const init = (cwd: string, ...args: string[]) => paylink(['init', ...args], { cwd });
const textOf = (...path: string[]): string => readFileSync(join(...path), 'utf8');

describe('paylink init', () => {
  it('adds missing lines, prints no secret, and changes nothing on a second run', async () => {
    const env = 'WEBHOOK_SECRET=mine-and-kept-0123456789\nSHOP_URL=\n# a comment';
    const folder = project({ '.env': env, '.gitignore': 'dist\n' });
    const { stdout } = await init(folder);
    const written = textOf(folder, '.env');
    expect(written.startsWith(`${env}\nPAYLINK_API_KEY=sk_live_`)).toBe(true);
    expect(written).toContain('PAYLINK_BASE_URL=');
    expect(written).toContain('SHOP_URL=http://localhost:3000\n');
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain('sk_live_');
    expect(textOf(folder, '.gitignore')).toBe('dist\n.env\n');
    expect(JSON.parse(textOf(folder, 'package.json'))).toMatchObject({
      scripts: {
        start: 'node .',
        payments: expect.stringContaining('paylink emulate --dotenv .env') as string,
      },
    });
    expect((await init(folder)).stdout).toContain('Nothing to write.');
    expect(textOf(folder, '.env')).toBe(written);
  });

  it.each(FRAMEWORKS)(
    'writes for %s a webhook with its secret and credit, a checkout with one link, and a test host',
    async (framework) => {
      const folder = project();
      const { stdout } = await init(folder, '--framework', framework);
      const lib = framework.startsWith('next') ? 'lib' : '';
      const webhook = textOf(folder, lib, 'payment-webhook.ts');
      expect(webhook).toMatch(/process\.env\['WEBHOOK_SECRET'\][^]*payments\.receive/);
      const checkout = textOf(folder, lib, 'checkout.ts');
      expect(checkout).toMatch(/single_use: true[^]*idempotencyKey: reference/);
      expect(textOf(folder, lib, 'payment-test-host.ts')).toContain('function startHost(');
      expect(textOf(folder, '.env')).toMatch(/^WEBHOOK_SECRET=[0-9a-f]{64}$/m);
      const [, mounted] = /import \{ (\w+) \} from '\.\/payment-webhook/.exec(stdout) ?? [];
      if (mounted !== undefined)
        expect(webhook).toMatch(new RegExp(`^export .*\\b${mounted}\\b`, 'm'));
    },
  );

  it('names for each database every variable that its recipe reads', () => {
    const recipes = new URL('../../../examples/databases/', import.meta.url);
    for (const { recipe, variables } of KNOWN) {
      const code = readFileSync(new URL(`${recipe}.ts`, recipes), 'utf8');
      const read = Array.from(code.matchAll(/process\.env\['(\w+)'\]/g), ([, name]) => name);
      expect(variables, recipe).toEqual(expect.arrayContaining(read));
    }
  });

  it.each([
    ['payments.ts leads to a file', 'payments.ts', 'file.ts'],
    ['.env leads to a file', '.env', 'file.ts'],
    ['payments.ts leads nowhere', 'payments.ts', 'nowhere'],
    ['src leads to a folder', 'src', ''],
  ])(
    'writes nothing through a symbolic link out of the folder if %s',
    { tags: 'O21' },
    async (_, path, target) => {
      const outside = newFolder();
      writeFileSync(join(outside, 'file.ts'), 'KEPT=1\n');
      const folder = project();
      symlinkSync(join(outside, target), join(folder, path));
      const { code, stderr } = await init(folder);
      expect(code).toBe(2);
      expect(stderr).toContain(`${path} is a symbolic link out of this folder`);
      expect(existsSync(join(folder, 'checkout.ts'))).toBe(false);
      expect(readdirSync(outside)).toEqual(['file.ts']);
      expect(textOf(outside, 'file.ts')).toBe('KEPT=1\n');
    },
  );

  it('writes no secret through a symbolic link to a tracked file', { tags: 'O21' }, async () => {
    const folder = project({ '.env.example': 'KEPT=1\n' });
    symlinkSync('.env.example', join(folder, '.env'));
    const { code, stderr } = await init(folder);
    expect(code).toBe(2);
    expect(stderr).toContain('.env is a symbolic link, perhaps to a file that git keeps');
    expect(textOf(folder, '.env.example')).toBe('KEPT=1\n');
  });

  it('overwrites an existing file only with --force', async () => {
    const folder = project({ 'payment-webhook.ts': '// mine\n' });
    const { code, stderr } = await init(folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /nothing was written: payment-webhook\.ts would be overwritten\n.*--force/,
    );
    expect(existsSync(join(folder, 'checkout.ts'))).toBe(false);
    expect(textOf(folder, 'payment-webhook.ts')).toBe('// mine\n');
    expect((await init(folder, '--force')).code).toBe(0);
    expect(textOf(folder, 'payment-webhook.ts')).toContain('@paylink/koa');
  });

  it.each(['.env\n!.env*\n', '.env*\n!/.e?v\n'])(
    'adds .env to a .gitignore that takes it back: %j',
    { tags: 'R08' },
    async (lines) => {
      const folder = project({ '.gitignore': lines });
      await init(folder);
      await init(folder);
      expect(textOf(folder, '.gitignore')).toBe(`${lines}.env\n`);
      execFileSync('git', ['init', '-q'], { cwd: folder });
      execFileSync('git', ['check-ignore', '-q', '.env'], { cwd: folder });
    },
  );

  it('runs no program that the configuration of a repository names', async () => {
    const folder = project();
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '-q');
    git('add', 'package.json');
    git('config', 'core.fsmonitor', 'touch ran #');
    expect((await init(folder)).code).toBe(0);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    git('status');
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });

  it.each([
    ['vitest', 'npx --no-install vitest run src/payment-webhook.test.ts'],
    ['jest', 'npx --no-install jest src/payment-webhook.test.ts'],
    ['tsx', 'node --import tsx --test src/payment-webhook.test.ts'],
  ])(
    'prints a command that names the test if a TypeScript project has %s',
    async (runner, line) => {
      const folder = project(
        { 'src/index.ts': 'export {};\n' },
        { dependencies: { hono: '4' }, devDependencies: { [runner]: '*' } },
      );
      expect((await init(folder, '--dry-run')).stdout.split('\n')).toContain(`  ${line}`);
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
    const folder = project(files, { ...KOA, devDependencies: { vitest: '4' } });
    const { stdout } = await init(folder, '--dry-run');
    for (const line of lines) expect(stdout).toContain(`\n  ${line}`);
    if (manager !== 'npm') expect(stdout).not.toMatch(/^ {2}np[mx] (?:run|install|vitest)/m);
  });

  it('uses the package manager of the surrounding monorepo', async () => {
    const api = { 'apps/api/package.json': JSON.stringify(KOA), 'apps/api/tsconfig.json': '' };
    const root = project({ 'yarn.lock': '', ...api }, { workspaces: ['apps/*'] });
    const { stdout } = await init(join(root, 'apps/api'), '--dry-run');
    expect(stdout).toContain('\n  yarn payments');
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
    ['SQL Server', { tedious: '*' }, {}, 'memory', 'tedious has no recipe'],
    ['Workers', { wrangler: '*' }, {}, 'memory', 'wrangler has no recipe'],
    ['Prisma on MongoDB', PRISMA, schemaOf('mongodb'), 'memory', '@prisma/client has no recipe'],
    ['Prisma on SQLite', PRISMA, schemaOf('sqlite'), 'prisma-sqlite', 'TEST_DATABASE_FILE'],
    [
      'an address of PostgreSQL',
      {},
      { '.env': 'DATABASE_URL=postgres://a@b/c\n' },
      'pg',
      'TEST_DATABASE',
    ],
    ['an address of MySQL', {}, { '.env': 'DATABASE_URL=mysql://a@b/c\n' }, 'mysql2', 'mysql2'],
    [
      'Knex on MySQL',
      { knex: '*', mysql2: '*' },
      {},
      'mysql2',
      'orders.ts uses mysql2 alongside knex, which has no recipe',
    ],
    [
      'TypeORM on PostgreSQL in CommonJS',
      { typeorm: '*', pg: '*' },
      {},
      'pg',
      'orders.ts uses pg alongside typeorm, which has no recipe',
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
    ['Prisma on MySQL', PRISMA, schemaOf('mysql'), 'prisma-mysql', 'model Order {'],
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
    const folder = project(files, { dependencies: { koa: '3', ...dependencies } });
    const { stdout } = await init(folder);
    expect(stdout).toContain(`koa, TypeScript, orders in ${recipe}\n`);
    expect(stdout + textOf(folder, 'orders.ts')).toContain(said);
    if (recipe === 'mysql2') expect(stdout).not.toMatch(/postgres/i);
  });

  it('installs a package for production if package.json has it for development alone', async () => {
    const devDependencies = { libsql: '*', '@paylink/koa': '*', '@paylink/emulator': '*' };
    const { stdout } = await init(project({}, { ...KOA, devDependencies }), '--dry-run');
    expect(stdout).toMatch(/^ {2}npm install --save-prod libsql tsx$/m);
    expect(stdout).toMatch(/pack:all koa client payments cli testing /);
    expect(stdout).not.toContain('@paylink/core');
  });

  it('writes nothing if a file cannot be written', async () => {
    const folder = project({ 'payment-webhook.ts': '' });
    chmodSync(join(folder, 'payment-webhook.ts'), 0o444);
    // The superuser may write everywhere, unless it runs without this right.
    const rights = '--bounding-set=-dac_override --inh-caps=-dac_override'.split(' ');
    const less = process.getuid?.() === 0 ? ['setpriv', ...rights] : [];
    const [program, ...args] = [...less, process.execPath, COMMAND, 'init', '--force'];
    const run = promisify(execFile)(program, args, { cwd: folder });
    const { code, stderr } = (await run.catch((error: unknown) => error)) as Result;
    expect(code).toBe(2);
    expect(stderr).toContain('nothing was written: payment-webhook.ts cannot be written');
    expect(existsSync(join(folder, '.env'))).toBe(false);
  });

  it('lists the files and writes nothing with --dry-run', async () => {
    const folder = project({ 'checkout.ts': '// mine\n' });
    const { code, stdout } = await init(folder, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}new +payment-webhook\.ts\n/m);
    expect(stdout).toMatch(/^ {2}adds to +package\.json\n/m);
    expect(stdout).toMatch(/^ {2}overwrites +checkout\.ts\n/m);
    const report = await init(folder, '--dry-run', '--json');
    expect(JSON.parse(report.stdout)).toMatchObject({ framework: 'koa', written: false });
    expect(readdirSync(folder).sort()).toEqual(['checkout.ts', 'package.json', 'tsconfig.json']);
    expect(textOf(folder, 'checkout.ts')).toBe('// mine\n');
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['UTF-16', (path: string) => writeFileSync(path, '\uFEFFSHOP_URL=\n', 'utf16le')],
    ['UTF-16 without a mark', (path: string) => writeFileSync(path, 'SHOP_URL=\n', 'utf16le')],
    ['UTF-8 with a byte order mark', (path: string) => writeFileSync(path, '\uFEFFSHOP_URL=\n')],
  ])(
    'names the fault of a .gitignore that is %s, and writes nothing',
    { tags: 'R08' },
    async (_, make) => {
      const folder = project();
      make(join(folder, '.gitignore'));
      const { code, stderr } = await init(folder);
      expect(code).toBe(2);
      expect(stderr).toMatch(/\.gitignore cannot be read \(it (?:is a|is UTF-16|begins)/);
      expect(existsSync(join(folder, 'checkout.ts'))).toBe(false);
    },
  );

  it('takes another address on a later run, and keeps the script of a stranger', async () => {
    const folder = project(
      { 'index.js': 'app.listen(4444)' },
      { ...KOA, scripts: { payments: 'node my-payments.js' } },
    );
    const { stdout } = await init(folder);
    expect(stdout).toContain('npm run paylink ');
    expect(textOf(folder, '.env')).toContain('SHOP_URL=http://localhost:4444\n');
    await init(folder, '--shop-url', 'http://localhost:5555/shop');
    expect(textOf(folder, '.env')).toMatch(/^SHOP_URL=http:\/\/localhost:5555\/shop$/m);
    const { scripts } = JSON.parse(textOf(folder, 'package.json')) as { scripts: object };
    expect(scripts).toEqual({
      payments: 'node my-payments.js',
      paylink: expect.stringContaining('localhost:5555/shop/webhooks/payments') as string,
    });
    expect((await init(folder)).stdout).toContain('Nothing to write.');
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
    const { stdout } = await init(project(files, { dependencies }), '--dry-run');
    expect(stdout).toContain(`must answer at ${address}webhooks/payments`);
  });

  it('turns what `npm init` wrote into a project that starts, tests and compiles a server', async () => {
    const folder = newFolder();
    const scripts = { lint: 'eslint', test: 'echo "Error: no test specified" && exit 1' };
    const written = { name: 'shop', scripts, dependencies: { koa: '^2.16.0' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(written));
    expect(await init(folder, '--framework', 'koa')).toMatchObject({ code: 0, stderr: '' });
    expect(textOf(folder, 'server.ts')).toContain('new Koa()');
    const text = expect.any(String) as string;
    expect(JSON.parse(textOf(folder, 'package.json'))).toMatchObject({
      name: 'shop',
      scripts: {
        lint: 'eslint',
        start: 'tsx server.ts',
        test: expect.stringContaining('--test payment-webhook.test.ts') as string,
      },
      dependencies: { koa: '^2.16.0', libsql: text, tsx: text },
      devDependencies: { '@types/koa': text, '@types/node': text, typescript: text },
    });
  });

  it('adds the file of a SQLite database to .gitignore, with the files beside it', async () => {
    const folder = project({}, { dependencies: { koa: '3', libsql: '*' } });
    await init(folder);
    expect(textOf(folder, '.gitignore')).toBe('.env\nshop.db*\n');
  });

  it('takes the port and the global prefix of --shop-url, and the webhook of Nest has no prefix', async () => {
    const folder = project({}, { dependencies: { '@nestjs/core': '11', express: '5' } });
    const { stdout } = await init(folder, '--shop-url', 'http://localhost:8080/api');
    expect(stdout).toContain(
      'must answer at http://localhost:8080/webhooks/payments: for another port',
    );
    expect(textOf(folder, '.env')).toContain('SHOP_URL=http://localhost:8080/api\n');
    expect(textOf(folder, 'package.json')).toContain(
      '--webhook http://localhost:8080/webhooks/payments"',
    );
  });

  it('names the command that ends the tracking of .env, and only if git tracks it', async () => {
    const cwd = project();
    execSync('git init -q', { cwd });
    expect((await init(cwd)).stdout).not.toContain('git rm');
    execSync('git add -f .env', { cwd });
    const [, command = ''] = /^ {2}(git rm .*)$/m.exec((await init(cwd)).stdout) ?? [];
    expect(command).toContain('.env');
    execSync(command, { cwd });
    expect((await init(cwd)).stdout).not.toContain('git rm');
  });

  it.each([
    ['the folder has no package.json', undefined, [], /readable package\.json[^]*--framework expr/],
    ['a new project needs its own tool', undefined, words`--framework nest`, /with its own tool/],
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
    ['the framework is unknown', {}, words`--framework rails`, /Allowed choices are next, express/],
  ])('exits with 2 if %s', async (_, manifest, args, message) => {
    const folder = newFolder();
    if (manifest !== undefined)
      writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const result = await init(folder, ...args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
