/** Reads the facts that `paylink init` needs from the files of a project. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usageFailure } from '../terminal/failure.js';
import { NPX, quoteForShell } from '../terminal/shell.js';
import { findDatabase, type Database } from './databases.js';
import { findInSources, type Finding } from './sources.js';
import { packagesBelow } from './workspace.js';

export const FRAMEWORKS = [
  'express',
  'fastify',
  'koa',
  'hono',
  'nest',
  'next-app',
  'next-pages',
  'lambda',
  'node',
] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export type TestRunner = 'vitest' | 'jest' | 'node:test';

export interface Project {
  readonly folder: string;
  readonly framework: Framework;
  readonly isTypeScript: boolean;
  readonly isModule: boolean;
  readonly database: Database;
  readonly commands: Commands;
  readonly testRunner: TestRunner;
  /** The folder of the code: "src" or "". */
  readonly source: string;
  readonly manifest: Manifest;
  /** The first line that mounts a body parser for all routes. */
  readonly parser: Finding | undefined;
  /** Nest: the prefix of the return page, such as `/api`. */
  readonly prefix: string;
  readonly port: string;
}

export interface Manifest {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly packageManager?: string;
}

/** The commands of the package manager, without the names that follow. */
export interface Commands {
  readonly install: string;
  readonly installDev: string;
  readonly run: string;
  /** Runs the command of an installed package. */
  readonly exec: string;
}

const COMMANDS = {
  npm: ['npm install', 'npm install --save-dev', 'npm run', 'npx --no-install'],
  pnpm: ['pnpm add', 'pnpm add -D', 'pnpm', 'pnpm exec'],
  yarn: ['yarn add', 'yarn add -D', 'yarn', 'yarn'],
  bun: ['bun add', 'bun add -d', 'bun run', 'bunx'],
} as const;

const LOCKFILES = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
] as const;

/** The files of SAM and the Serverless Framework in a project's folder. */
const LAMBDA_FILES = [
  'template.yaml',
  'template.yml',
  'samconfig.toml',
  'serverless.yml',
  'serverless.yaml',
  'serverless.ts',
];

const PARSER =
  /\.use\(\s{0,9}(?:(?:express|bodyParser)\.)?(?:json|urlencoded|raw|text|bodyParser|koaBody|koaBodyParser)\(/;

/** @throws Failure if the folder has no package.json, or if the framework is ambiguous */
export function readProject(folder: string, wanted?: string): Project {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(folder, name)));
  const manifest = readManifest(folder);
  const dependencies = { ...manifest.devDependencies, ...manifest.dependencies };
  const framework = frameworkOf(folder, dependencies, has, wanted);
  const isTypeScript = has('tsconfig.json');
  if (framework === 'nest' && !isTypeScript) {
    throw usageFailure(
      'this folder has no tsconfig.json',
      'the controller for Nest is written in TypeScript, with decorators',
    );
  }
  const find = (pattern: RegExp): Finding | undefined => findInSources(folder, pattern);
  const isModule = manifest.type === 'module';
  return {
    folder,
    manifest,
    framework,
    isTypeScript,
    isModule,
    // Next.js compiles ES modules in every project.
    database: findDatabase(folder, dependencies, isModule || framework.startsWith('next')),
    commands: commandsOf(folder, manifest),
    testRunner: (['vitest', 'jest'] as const).find((name) => name in dependencies) ?? 'node:test',
    source: has('src') ? 'src' : '',
    parser: ['express', 'koa'].includes(framework) ? find(PARSER) : undefined,
    prefix:
      framework === 'nest'
        ? prefixOf(find(/setGlobalPrefix\(\s{0,9}['"`]([^'"`]{1,99})['"`]/))
        : '',
    port:
      find(
        /\.listen\(\s{0,9}(?:\{[^}]{0,99}port:\s{0,9})?(?:process\.env\W{1,9}PORT\W{1,9})?(\d{2,5})/,
      )?.group ?? '3000',
  };
}

function prefixOf(found: Finding | undefined): string {
  const prefix = found?.group?.replace(/^\/+|\/+$/g, '') ?? '';
  return prefix === '' ? '' : `/${prefix}`;
}

/** Detects the package manager of the folder, or of the monorepo above. */
function commandsOf(folder: string, { packageManager }: Manifest): Commands {
  const named = LOCKFILES.find(([, name]) => packageManager?.startsWith(`${name}@`));
  const [, name] = named ?? lockfileAt(folder) ?? ['', 'npm'];
  const [install, installDev, run, exec] = COMMANDS[name];
  return { install, installDev, run, exec };
}

function lockfileAt(folder: string): (typeof LOCKFILES)[number] | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = LOCKFILES.find(([file]) => existsSync(join(at, file)));
    // A lockfile above the repository belongs to another project.
    if (found !== undefined || at === dirname(at) || existsSync(join(at, '.git'))) return found;
  }
}

function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw usageFailure(
      isMissing ? 'this folder has no package.json' : 'package.json cannot be read as JSON',
      isMissing
        ? "run paylink init in your server's folder, or create a package.json with npm init -y"
        : undefined,
    );
  }
}

function frameworkOf(
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  has: (...names: string[]) => boolean,
  wanted: string | undefined,
): Framework {
  const next = has('app', 'src/app') || !has('pages', 'src/pages') ? 'next-app' : 'next-pages';
  if (wanted !== undefined) {
    const named = wanted === 'next' ? next : FRAMEWORKS.find((each) => each === wanted);
    if (named === undefined)
      throw usageFailure(
        `unknown framework ${wanted}. Valid names: next, ${FRAMEWORKS.join(', ')}`,
      );
    return named;
  }
  if ('next' in dependencies || has('next.config.js', 'next.config.mjs', 'next.config.ts'))
    return next;
  // Nest depends on Express or Fastify.
  if ('@nestjs/core' in dependencies) return 'nest';
  const found = serversIn(dependencies);
  if (found.length === 1) return found[0]!;
  if (found.length === 0 && ('@types/aws-lambda' in dependencies || has(...LAMBDA_FILES)))
    return 'lambda';
  if (found.length === 0) {
    const packages = packagesBelow(folder);
    if (packages !== undefined) throw rootOfMonorepo(folder, packages);
  }
  const reason =
    found.length === 0
      ? 'package.json does not name a supported framework'
      : `package.json names ${found.join(' and ')}`;
  throw usageFailure(
    reason,
    `choose one: --framework ${(found.length === 0 ? FRAMEWORKS : found).join('|')}`,
  );
}

function serversIn(dependencies: Readonly<Record<string, string>>): Framework[] {
  return (['express', 'fastify', 'koa', 'hono'] as const).filter((name) => name in dependencies);
}

function rootOfMonorepo(folder: string, packages: readonly string[]): Error {
  const servers = packages.filter((path) => {
    const { dependencies = {}, devDependencies = {} } = readManifest(join(folder, path));
    const all = { ...dependencies, ...devDependencies };
    return 'next' in all || '@nestjs/core' in all || serversIn(all).length > 0;
  });
  return usageFailure(
    'this folder is the root of a monorepo',
    ...(servers.length === 0
      ? ["run paylink init in your server's folder, with --framework"]
      : servers.map((path) => `cd ${quoteForShell(path)} && ${NPX} init`)),
  );
}
