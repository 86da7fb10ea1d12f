/**
 * Compiles a merchant's code with every supported TypeScript against the packed declarations. pnpm
 * links only what the merchant installs, so a type that the merchant cannot name fails (TS2742).
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tarballs } from '../packaging/packed.js';

/** The oldest version, and each kind of modules. `pnpm lab full-size` compiles all pairs. */
const MODULES: Readonly<Record<string, readonly string[]>> =
  process.env['PAYLINK_TYPESCRIPT'] === 'all'
    ? Object.fromEntries(
        ['5.5', '5.6', '5.9', '6.0', '7.0'].map((version) => [version, ['nodenext', 'bundler']]),
      )
    : { '5.5': ['nodenext'], '7.0': ['nodenext', 'bundler'] };
/** The declarations of the frameworks in the second have errors of their own on some versions. */
const CHECKED = ['webhooks.ts', 'money.ts'];
const FRAMEWORKS = ['frameworks.ts'];
const ADAPTERS = ['node', 'fetch', 'express', 'fastify', 'koa', 'hono', 'next', 'nest', 'lambda'];
const OTHERS = ['client', 'payments', 'testing', 'emulator'];
const INSTALLED = [...ADAPTERS, ...OTHERS];
const ours = (name: string): string => `@paylink/${name}`;
const run = promisify(execFile);

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'paylink-types-')));
  cpSync(fileURLToPath(new URL('project', import.meta.url)), folder, { recursive: true });
  const overrides = new Map(
    Object.entries(tarballs()).map(([name, path]) => [name, `file:${path}`]),
  );
  const compilers = Object.keys(MODULES).map(
    (version) => [`typescript-${version}`, `npm:typescript@~${version}.2`] as const,
  );
  const manifest = {
    private: true,
    type: 'module',
    dependencies: {
      ...Object.fromEntries(INSTALLED.map((name) => [ours(name), overrides.get(ours(name))])),
      ...{ zod: '^4.6.7', express: '^5.3.0', '@types/express': '^5.0.6', fastify: '^5.12.8' },
      ...{ koa: '^3.3.0', '@types/koa': '^3.0.3', hono: '^4.13.19', next: '^16.0.0' },
      ...{ react: '^19.3.1', 'react-dom': '^19.3.1', '@types/react': '^19.3.0', rxjs: '^7.8.2' },
      ...{ '@nestjs/common': '^11.2.10', '@nestjs/core': '^11.2.8', 'reflect-metadata': '^0.2.2' },
      ...{ '@types/node': '^20.19.0', ...Object.fromEntries(compilers) },
    },
    pnpm: { overrides: Object.fromEntries(overrides) },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const pnpm = ['-y', 'pnpm@10.34.9', 'install', '--ignore-workspace', '--ignore-scripts'];
  execFileSync('npx', [...pnpm, '--prefer-offline'], { cwd: folder, stdio: 'ignore' });
}, 300_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Compiles files of the project. Returns the compiler's output. */
async function compile(version: string, module: string, files: readonly string[]): Promise<string> {
  const skips = ['--skipDefaultLibCheck', '--skipLibCheck', String(files === FRAMEWORKS)];
  const strict = ['--strict', '--exactOptionalPropertyTypes'];
  const output = ['--declaration', '--outDir', `out-${version}-${module}`];
  const language = ['--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node'];
  const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata'];
  const modules =
    module === 'bundler'
      ? ['--module', 'esnext', '--moduleResolution', 'bundler']
      : ['--module', 'nodenext'];
  const options = [...skips, ...strict, ...output, ...language, ...decorators, ...modules];
  const compiler = `node_modules/typescript-${version}/bin/tsc`;
  return run('node', [compiler, ...options, ...files], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { readonly stdout: string }).stdout,
  );
}

describe.each(Object.entries(MODULES))('TypeScript %s', (version, modules) => {
  it.each(modules)(
    'compiles an own event kind, and exports of all that Paylink returns, with %s',
    { tags: 'P18', timeout: 120_000 },
    async (module) => {
      expect(await compile(version, module, CHECKED)).toBe('');
      expect(await compile(version, module, FRAMEWORKS)).toBe('');
    },
  );
});
