/** Which files `paylink init` writes, and how each differs from what is there. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';
import { HOSTS, isEsm, PATH, routeFile, testFile, webhookFile } from './templates.js';
import type { Project } from './project.js';

export interface PlannedFile {
  /** Inside the project, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Whether only its owner may read it. */
  readonly isSecret?: boolean;
  /** Whether lines of the user's own are lost. */
  readonly overwrites: boolean;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  /** What is left for the user, a line each. */
  readonly next: readonly string[];
}

export function planOf(project: Project): Plan {
  const { framework, isTypeScript, isModule, source, folder } = project;
  const extension = isTypeScript ? 'ts' : framework.startsWith('next') && !isModule ? 'mjs' : 'js';
  const isNext = framework === 'next-app' || framework === 'next-pages';
  const code = [source, isNext ? 'lib' : ''].filter((part) => part !== '').join('/');
  const inCode = (name: string): string => (code === '' ? name : `${code}/${name}`);
  const whole = (path: string, after: string): PlannedFile => {
    const before = read(folder, path);
    return { path, before, after, overwrites: before !== undefined && before !== after };
  };
  // Nest's own projects look for `.spec.ts`.
  const test = inCode(`payment-webhook.${framework === 'nest' ? 'spec' : 'test'}.${extension}`);
  const files = [
    whole(inCode(`payment-webhook.${extension}`), webhookFile(project)),
    whole(
      test,
      testFile(project, './payment-webhook').replace(
        'payment-webhook.js',
        extension === 'mjs' ? 'payment-webhook.mjs' : 'payment-webhook.js',
      ),
    ),
    ...(isNext ? [nextRoute(project, inCode('payment-webhook'), extension, whole)] : []),
    environment(folder),
    ignored(folder),
    manifest(project, isNext ? `http://localhost:3000/api${PATH}` : `http://localhost:3000${PATH}`),
  ];
  return {
    files: files.filter(({ before, after }) => before !== after),
    next: nextSteps(project, test),
  };
}

function read(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function nextRoute(
  { framework, source }: Project,
  module: string,
  extension: string,
  whole: (path: string, after: string) => PlannedFile,
): PlannedFile {
  const root = source === '' ? '' : `${source}/`;
  const isApp = framework === 'next-app';
  const path = isApp
    ? `${root}app/api${PATH}/route.${extension === 'mjs' ? 'js' : extension}`
    : `${root}pages/api${PATH}.${extension === 'mjs' ? 'js' : extension}`;
  const from = relative(join('/', path, '..'), join('/', module)).replaceAll('\\', '/');
  const target = extension === 'mjs' ? `${from}.mjs` : from;
  return whole(path, routeFile(isApp ? 'next-app' : 'next-pages', target));
}

/** Lines that are missing are added; those that are there stay as they are. */
function environment(folder: string): PlannedFile {
  const before = read(folder, '.env');
  const known = parseEnv(before ?? '');
  const wanted = {
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    PAYLINK_API_KEY: `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('hex')}`,
    PAYLINK_BASE_URL: 'http://127.0.0.1:4010/api',
  };
  const missing = Object.entries(wanted).filter(([name]) => known[name] === undefined);
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  return { path: '.env', before, after: joined(before, lines), isSecret: true, overwrites: false };
}

function ignored(folder: string): PlannedFile {
  const before = read(folder, '.gitignore');
  const isIgnored = (before ?? '')
    .split(/\r?\n/)
    .some((line) => /^\/?\.env(\*|)?$/.test(line.trim()));
  return {
    path: '.gitignore',
    before,
    after: isIgnored ? before! : joined(before, '.env\n'),
    overwrites: false,
  };
}

function joined(before: string | undefined, lines: string): string {
  if (before === undefined || before === '') return lines;
  return lines === '' ? before : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}

const SCRIPT = 'payments';

function manifest({ folder, manifest: { scripts } }: Project, webhook: string): PlannedFile {
  const before = read(folder, 'package.json')!;
  if (scripts?.[SCRIPT] !== undefined)
    return { path: 'package.json', before, after: before, overwrites: false };
  const parsed = JSON.parse(before) as { scripts?: Record<string, string> };
  parsed.scripts = {
    ...parsed.scripts,
    [SCRIPT]: `paylink emulate --dotenv .env --webhook ${webhook}`,
  };
  const indent = /^([ \t]+)"/m.exec(before)?.[1] ?? '  ';
  return {
    path: 'package.json',
    before,
    after: `${JSON.stringify(parsed, undefined, indent)}\n`,
    overwrites: false,
  };
}

function nextSteps(project: Project, test: string): string[] {
  const { framework, install, installDev, isTypeScript, testRunner } = project;
  const { dependencies, devDependencies } = project.manifest;
  const known = { ...dependencies, ...devDependencies };
  const absent = (names: readonly string[]): string[] => names.filter((name) => !(name in known));
  const { from, mount } = HOSTS[framework];
  const door = from[1].split('/').slice(0, 2).join('/');
  const needsTsx = isTypeScript && testRunner === 'node:test';
  const runtime = absent([door]);
  const development = absent([
    '@paylink/testing',
    '@paylink/cli',
    ...(needsTsx ? ['tsx'] : []),
    ...(isTypeScript ? ['@types/node'] : []),
    ...(isTypeScript && testRunner === 'jest' ? ['@types/jest'] : []),
  ]);
  // Without it jest takes ES modules for CommonJS. An option of npx works in every shell, and NODE_OPTIONS=… does not.
  const asModules =
    isTypeScript || !isEsm(project) ? '' : '--node-options=--experimental-vm-modules ';
  // The file is named: on its own node --test of Node 20 finds no TypeScript, runs nothing and ends with 0.
  const run = {
    vitest: `npx vitest run ${test}`,
    jest: `npx ${asModules}jest ${test}`,
    'node:test': `node ${needsTsx ? '--import tsx ' : ''}--test ${test}`,
  }[testRunner];
  return [
    ...(runtime.length > 0 ? [`${install} ${runtime.join(' ')}`] : []),
    ...(development.length > 0 ? [`${installDev} ${development.join(' ')}`] : []),
    ...(mount === '' ? ['write how an order is credited in the route'] : [mount]),
    run,
    `npm run ${SCRIPT}`,
  ];
}
