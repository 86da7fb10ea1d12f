/**
 * Compiles the files that `paylink init` writes for each framework and each database, against the
 * types of the built packages.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { linkPackages } from '../../../test/init/packages.js';
import { newFolder, paylink } from './paylink.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** The quick compiler. test/types/matrix.built.test.ts has the versions. */
const TSC = at('../../../node_modules/typescript/bin/tsc');

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
    typeRoots: [at('../../../node_modules/@types')],
  },
  include: ['**/*.ts'],
});

async function writeFiles(
  folder: string,
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [path, content] of Object.entries({
    'package.json': JSON.stringify(manifest),
    ...files,
  })) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

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

it('writes files for each host, each database and each new project that pass tsc --strict', async () => {
  // All projects share one folder, so that one compiler run checks them all.
  const root = newFolder();
  await linkPackages(root);
  await writeFiles(root, {}, { 'tsconfig.json': TSCONFIG });
  const projects = [
    ...HOSTS.map(([framework, ...rest]) => [framework, 'memory', ...rest] as const),
    ...Object.entries(DATABASES).map(
      ([recipe, names]) => ['express', recipe, namesOf(['express', ...names]), {}] as const,
    ),
  ];
  for (const [framework, recipe, dependencies, files] of projects) {
    const cwd = join(root, `${framework}-${recipe}`);
    const manifest = { type: 'module', dependencies };
    await writeFiles(cwd, manifest, { 'tsconfig.json': TSCONFIG, ...files });
    const { code, stdout, stderr } = await paylink(['init', '--framework', framework], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${framework}, TypeScript, orders in ${recipe}\n`);
  }
  for (const framework of ['express', 'fastify', 'koa', 'hono', 'node', 'next']) {
    const cwd = join(root, `new-${framework}`);
    // Who installs the command first has a package.json.
    if (framework === 'express') await writeFiles(cwd, { dependencies: { '@paylink/cli': '*' } });
    else await mkdir(cwd);
    const { code, stdout } = await paylink(['init', '--framework', framework], { cwd });
    expect({ code, server: /^ {2}new +(?:server|app\/page)\.tsx?$/m.test(stdout) }).toEqual({
      code: 0,
      server: true,
    });
    const again = await paylink(['init', '--framework', framework], { cwd });
    expect(again.stdout).toContain('Nothing to write.');
  }
  const options = [TSC, '--singleThreaded'];
  const compiled = promisify(execFile)(process.execPath, options, { cwd: root });
  await compiled.catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
}, 300_000);
