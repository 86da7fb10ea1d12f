/** What a project is, as far as its files show. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usageFailure } from '../failure.js';

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
  /** The line that installs packages, without their names. */
  readonly install: string;
  readonly installDev: string;
  readonly testRunner: TestRunner;
  /** Where code is: "src" or "". */
  readonly source: string;
  readonly manifest: Manifest;
}

export interface Manifest {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const INSTALL = {
  npm: ['npm install', 'npm install --save-dev'],
  pnpm: ['pnpm add', 'pnpm add -D'],
  yarn: ['yarn add', 'yarn add -D'],
  bun: ['bun add', 'bun add -d'],
} as const;

/** What SAM and the Serverless Framework keep in a project's folder. */
const LAMBDA_FILES = [
  'template.yaml',
  'template.yml',
  'samconfig.toml',
  'serverless.yml',
  'serverless.yaml',
  'serverless.ts',
];

/** @throws Failure where the folder has no package.json, or does not show which framework is meant. */
export function readProject(folder: string, wanted?: string): Project {
  const has = (...names: string[]): boolean => names.some((name) => existsSync(join(folder, name)));
  const manifest = readManifest(folder);
  const dependencies = { ...manifest.devDependencies, ...manifest.dependencies };
  const [install, installDev] =
    INSTALL[
      has('pnpm-lock.yaml')
        ? 'pnpm'
        : has('yarn.lock')
          ? 'yarn'
          : has('bun.lock', 'bun.lockb')
            ? 'bun'
            : 'npm'
    ];
  const framework = frameworkOf(dependencies, has, wanted);
  const isTypeScript = has('tsconfig.json');
  if (framework === 'nest' && !isTypeScript) {
    throw usageFailure(
      'there is no tsconfig.json here',
      'the controller for Nest is written in TypeScript, with decorators',
    );
  }
  return {
    folder,
    manifest,
    framework,
    isTypeScript,
    isModule: manifest.type === 'module',
    install,
    installDev,
    testRunner: (['vitest', 'jest'] as const).find((name) => name in dependencies) ?? 'node:test',
    source: has('src') ? 'src' : '',
  };
}

function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw usageFailure(
      isMissing ? 'there is no package.json here' : 'package.json cannot be read as JSON',
      isMissing ? 'run it in the folder of your server, or make one: npm init -y' : undefined,
    );
  }
}

function frameworkOf(
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
  // It brings Express or Fastify along.
  if ('@nestjs/core' in dependencies) return 'nest';
  const found = (['express', 'fastify', 'koa', 'hono'] as const).filter(
    (name) => name in dependencies,
  );
  if (found.length === 1) return found[0]!;
  if (found.length === 0 && ('@types/aws-lambda' in dependencies || has(...LAMBDA_FILES)))
    return 'lambda';
  const reason =
    found.length === 0
      ? 'package.json names no framework that this command knows'
      : `package.json names ${found.join(' and ')}`;
  throw usageFailure(
    reason,
    `say which: --framework ${(found.length === 0 ? FRAMEWORKS : found).join('|')}`,
  );
}
