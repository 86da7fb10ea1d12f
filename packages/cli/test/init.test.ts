import { exec, execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newFolder, paylink } from './paylink.js';
import { inTerminal } from './terminal.js';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
// The packages of the tests stand for those that a user has installed.
const MODULES = fileURLToPath(new URL('../../../test/node_modules', import.meta.url));
const JEST = join(
  fileURLToPath(new URL('../../../examples/jest', import.meta.url)),
  'node_modules/jest',
);

/** Runs the line that `init` has printed for the test, as it is printed. */
async function runPrinted(
  stdout: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const line = /^ {2}((?:node|npx) .*)$/m.exec(stdout)![1]!;
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
  ['next-app', { next: '^16.0.0' }, { 'app/page.tsx': '' }],
  ['next-pages', { next: '^16.0.0' }, { 'pages/index.tsx': '' }],
];

describe('paylink init', () => {
  it('writes a webhook for each host that passes tsc --strict and its own test', async () => {
    // The projects lie in one folder, so that one run of the compiler checks them all.
    const root = await project({}, { 'tsconfig.json': TSCONFIG });
    const options = { env: { PATH: process.env['PATH'] } as unknown as NodeJS.ProcessEnv };
    const tests = await Promise.all(
      HOSTS.map(async ([framework, dependencies, files]) => {
        const folder = join(root, framework);
        await writeFiles(
          folder,
          { type: 'module', dependencies },
          { 'tsconfig.json': TSCONFIG, ...files },
        );
        const { code, stdout, stderr } = await inFolder(folder, ['--yes']);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).toContain(`${framework}, TypeScript\n`);
        return { folder, stdout };
      }),
    );
    await run(process.execPath, [join(MODULES, 'typescript/bin/tsc')], {
      ...options,
      cwd: root,
    }).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
    for (const { folder, stdout } of tests) {
      expect(
        await runPrinted(stdout, folder, { NODE_OPTIONS: '--conditions=@paylink/source' }),
      ).toMatch(/# pass 2\n# fail 0/);
    }
  });

  it.each([
    ['express', 'CommonJS', {}],
    ['express', 'ES modules', { type: 'module' }],
    ['hono', 'CommonJS', {}],
    ['lambda', 'CommonJS', {}],
    ['lambda', 'ES modules', { type: 'module' }],
  ])('writes JavaScript for %s in %s that passes its test', async (framework, _, type) => {
    const files = framework === 'lambda' ? { 'serverless.yml': '' } : {};
    const folder = await project(
      { ...type, dependencies: framework === 'lambda' ? {} : { [framework]: '*' } },
      files,
    );
    const { code, stdout } = await inFolder(folder, ['--yes']);
    expect(code).toBe(0);
    expect(await runPrinted(stdout, folder)).toMatch(/# pass 2\n# fail 0/);
  });

  it.each([
    ['CommonJS', {}],
    ['ES modules', { type: 'module' }],
  ])('prints a line that runs the test in jest, in %s', async (_, type) => {
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
    expect(await runPrinted(stdout, folder)).toMatch(/^Tests: +2 passed, 2 total$/m);
  });

  it.each([
    ['vitest', 'npx vitest run src/payment-webhook.test.ts'],
    ['jest', 'npx jest src/payment-webhook.test.ts'],
    ['tsx', 'node --import tsx --test src/payment-webhook.test.ts'],
  ])(
    'prints a line that names the test where a TypeScript project has %s',
    async (runner, line) => {
      const files = { 'tsconfig.json': TSCONFIG, 'src/index.ts': 'export {};\n' };
      const folder = await project(
        { dependencies: { hono: '4' }, devDependencies: { [runner]: '*' } },
        files,
      );
      expect((await inFolder(folder, ['--dry-run'])).stdout.split('\n')).toContain(`  ${line}`);
    },
  );

  it('adds to .env, .gitignore and package.json what is missing, prints no secret, and changes nothing at the second run', async () => {
    const env = 'WEBHOOK_SECRET=mine-and-kept-0123456789\n# a comment';
    const folder = await project(
      { dependencies: { express: '5' }, scripts: { start: 'node .' } },
      { '.env': env, '.gitignore': 'dist\n' },
    );
    const { stdout } = await inFolder(folder, ['--yes']);
    const written = await readFile(join(folder, '.env'), 'utf8');
    expect(written.startsWith(`${env}\nPAYLINK_API_KEY=sk_live_`)).toBe(true);
    expect(written).toContain('PAYLINK_BASE_URL=');
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

  it('shows the changes and writes nothing with --dry-run, or where it cannot ask', async () => {
    const folder = await project({ dependencies: { koa: '3' } });
    const dry = await inFolder(folder, ['--dry-run']);
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(
      /^new payment-webhook\.js\n {2}\+ const \{ paymentWebhook \} = require\('@paylink\/koa'\);$/m,
    );
    const piped = await inFolder(folder, []);
    expect(piped.code).toBe(2);
    expect(piped.stderr).toMatch(/no terminal to ask at/);
    await expect(stat(join(folder, 'payment-webhook.js'))).rejects.toThrow('ENOENT');
  });

  it('asks at a terminal before it overwrites', async () => {
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
    ['no package.json', undefined, [], /no package\.json here/],
    ['no framework', {}, [], /--framework/],
    [
      'two frameworks',
      { dependencies: { koa: '3', express: '5' } },
      [],
      /express and koa[^]*--framework express\|koa/,
    ],
    [
      'Nest in plain JavaScript',
      { dependencies: { '@nestjs/core': '11' } },
      [],
      /no tsconfig\.json here[^]*TypeScript, with decorators/,
    ],
    [
      'an unknown framework',
      {},
      ['--framework', 'rails'],
      /unknown framework rails\. Valid names: next, express/,
    ],
  ])('ends with 2 on %s', async (_, manifest, args, message) => {
    const folder = manifest === undefined ? newFolder() : await project(manifest);
    const result = await inFolder(folder, args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
