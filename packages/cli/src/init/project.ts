/** Reads the facts that `paylink init` needs from the files of a project. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { detect } from 'package-manager-detector';
import { isLocalHost } from '../receiver/local-host.js';
import { usageFailure } from '../terminal/failure.js';
import { addressOf } from './address.js';
import { findDatabase } from './find-database.js';
import { FRAMEWORKS, type Framework } from './hosts.js';
import type { Manifest } from './manifest.js';
import { newManifest } from './new-project.js';
import { readText } from './text.js';

export type Project = Readonly<Awaited<ReturnType<typeof readProject>>>;

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  npm: ['npm install', '--save-prod', '--save-dev', 'npm run', 'npx --no-install'],
  pnpm: ['pnpm add', '-P', '-D', 'pnpm', 'pnpm exec'],
  yarn: ['yarn add', '', '-D', 'yarn', 'yarn'],
  bun: ['bun add', '', '-d', 'bun run', 'bunx'],
};

/**
 * Returns the commands of the package manager of the folder, or of the monorepo above, without the
 * names that follow.
 */
async function commandsOf(folder: string) {
  const name = (await detect({ cwd: folder }))?.name ?? 'npm';
  const [add, production, development, run, exec] = COMMANDS[name] ?? COMMANDS['npm']!;
  return {
    /** Installs the packages of package.json. */
    installAll: add!.replace(' add', ' install'),
    /** Makes a package one for production, also if it is one for development. */
    install: `${add} ${production}`.trim(),
    installDev: `${add} ${development!}`,
    run: run!,
    /** Runs the command of an installed package. */
    exec: exec!,
  };
}

/** @throws Failure if the folder has no readable package.json, or the framework is ambiguous */
export async function readProject(
  folder: string,
  shopUrl: URL | undefined,
  wanted: Framework | 'next' | undefined,
) {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(folder, name)));
  const isNew = wanted !== undefined && !hasCode(folder);
  const known = isNew && !has('package.json') ? {} : readManifest(folder);
  const manifest = isNew ? newManifest(wanted === 'next' ? 'next-app' : wanted, known) : known;
  const dependencies = { ...manifest.devDependencies, ...manifest.dependencies };
  const framework = frameworkOf(dependencies, has, wanted);
  const isTypeScript = isNew || has('tsconfig.json');
  if (framework === 'nest' && !isTypeScript)
    throw usageFailure('this folder has no tsconfig.json', 'the module for Nest is TypeScript');
  const isModule = manifest.type === 'module';
  const env = parseEnv(readText(folder, '.env') ?? '');
  const { dev = '', start = '' } = manifest.scripts ?? {};
  return {
    folder,
    /** The variables of .env. */
    env,
    /** The address of the server, with its global prefix. */
    shopUrl: shopUrl ?? keptAddress(env) ?? addressOf(folder, `${dev}\n${start}`, env),
    /** True if the user named the address, and not the project. */
    isShopUrlGiven: shopUrl !== undefined,
    manifest,
    framework,
    isTypeScript,
    isModule,
    // Next.js compiles ES modules in every project.
    database: findDatabase(folder, dependencies, env, isModule || framework.startsWith('next')),
    commands: await commandsOf(folder),
    testRunner:
      (['vitest', 'jest'] as const).find((name) => name in dependencies) ?? ('node:test' as const),
    /** The folder of the code: "src" or "". */
    source: has('src') && !isNew ? 'src' : '',
    /** True if the folder has no code, so that the command writes the server too. */
    isNew,
  };
}

/** Returns the address that an earlier run has written. */
function keptAddress({ SHOP_URL = '' }: NodeJS.Dict<string>): URL | undefined {
  if (!URL.canParse(SHOP_URL)) return undefined;
  const url = new URL(SHOP_URL);
  return isLocalHost(url.hostname) ? url : undefined;
}

/** Installed packages do not count as code. */
function hasCode(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? !/^(?:\.|node_modules$)/.test(entry.name)
      : /\.[cm]?[jt]sx?$|^tsconfig/.test(entry.name),
  );
}

function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readText(folder, 'package.json')!) as Manifest;
  } catch {
    throw usageFailure(
      'this folder has no readable package.json',
      "run paylink init in your server's folder, or start a new project: --framework express",
    );
  }
}

function frameworkOf(
  dependencies: Readonly<Record<string, string>>,
  has: (...names: string[]) => boolean,
  wanted: Framework | 'next' | undefined,
): Framework {
  const isNext = wanted === undefined ? 'next' in dependencies : wanted === 'next';
  if (isNext)
    return has('app', 'src/app') || !has('pages', 'src/pages') ? 'next-app' : 'next-pages';
  if (wanted !== undefined && wanted !== 'next') return wanted;
  // Nest depends on Express or Fastify.
  if ('@nestjs/core' in dependencies) return 'nest';
  const found = (['express', 'fastify', 'koa', 'hono'] as const).filter(
    (name) => name in dependencies,
  );
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw usageFailure(
      `package.json lists ${found.join(' and ')}`,
      `choose one: --framework ${found.join('|')}`,
    );
  if ('@types/aws-lambda' in dependencies) return 'lambda';
  throw usageFailure(
    'package.json does not list a framework that this command supports',
    `run paylink init in your server's folder, or add --framework ${FRAMEWORKS.join('|')}`,
  );
}
