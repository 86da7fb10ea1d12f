/** Plans the files that `paylink init` writes, with the difference to each existing file. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseEnv } from 'node:util';
import { isIgnoredByGit } from './git.js';
import { HOSTS, NEXT_ROUTES, WEBHOOK } from './hosts.js';
import { creditFile, MIGRATION, ordersFile, paymentsFile } from './money.js';
import type { Project } from './project.js';
import { render, type Style } from './render.js';
import { testFile } from './test-file.js';

export interface PlannedFile {
  /** The path inside the project, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Set if only the owner may read the file. */
  readonly isSecret?: boolean;
  /** Set if the user would lose lines. */
  readonly overwrites: boolean;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly names: CodeFiles;
}

/** The paths of the files that the user edits. */
export interface CodeFiles {
  readonly payments: string;
  readonly credit: string;
  readonly orders: string;
  readonly test: string;
  readonly migration: string;
}

export function planOf(project: Project): Plan {
  const { framework, folder, database } = project;
  const style = styleOf(project);
  const extension = extensionOf(project);
  const code = [project.source, framework.startsWith('next') ? 'lib' : ''];
  const inCode = (name: string): string => posix.join(...code, `${name}.${extension}`);
  const whole = (path: string, template: string): PlannedFile => {
    const [before, after] = [read(folder, path), render(template, style)];
    return { path, before, after, overwrites: before !== undefined && before !== after };
  };
  const names: CodeFiles = {
    payments: inCode('payments'),
    credit: inCode('credit-order'),
    orders: inCode('payment-orders'),
    // Nest's own projects look for `.spec.ts`.
    test: inCode(`payment-webhook.${framework === 'nest' ? 'spec' : 'test'}`),
    migration: inCode('migrate-payments'),
  };
  const files = [
    whole(names.payments, paymentsFile(project)),
    whole(names.credit, creditFile(project)),
    whole(names.orders, ordersFile(project)),
    ...(database === 'memory' ? [] : [whole(names.migration, MIGRATION)]),
    whole(inCode('payment-webhook'), HOSTS[framework].routes),
    ...nextRoutes(project).map(([path, template]) => whole(path, template)),
    whole(names.test, testFile(project)),
    environment(project),
    ignored(folder),
    manifest(project),
  ];
  return { files: files.filter(({ before, after }) => before !== after), names };
}

function extensionOf({ isTypeScript, isModule, framework }: Project): string {
  if (isTypeScript) return 'ts';
  return framework.startsWith('next') && !isModule ? 'mjs' : 'js';
}

function styleOf(project: Project): Style {
  const { isTypeScript, isModule, framework } = project;
  const isNext = framework.startsWith('next');
  const isEsm = isTypeScript || isModule || isNext;
  // TypeScript for CommonJS and the bundler of Next.js resolve a file without its extension.
  const needsEnding = isTypeScript ? isModule && !isNext : isEsm;
  const ending = isTypeScript ? '.js' : `.${extensionOf(project)}`;
  return { isTypeScript, isEsm, ending: needsEnding ? ending : '' };
}

function nextRoutes({
  framework,
  source,
  isTypeScript,
}: Project): (readonly [path: string, template: string])[] {
  if (framework !== 'next-app' && framework !== 'next-pages') return [];
  return Object.entries(NEXT_ROUTES[framework]).map(([route, template]) => {
    const path = posix.join(source, `${route}.${isTypeScript ? 'ts' : 'js'}`);
    return [path, template(posix.relative(posix.dirname(path), posix.join(source, 'lib')))];
  });
}

function read(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Adds missing lines and keeps existing lines. */
function environment({ folder, database, port }: Project): PlannedFile {
  const before = read(folder, '.env');
  const known = parseEnv(before ?? '');
  const wanted = {
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    PAYLINK_API_KEY: `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('hex')}`,
    PAYLINK_BASE_URL: 'http://127.0.0.1:4010/api',
    SHOP_URL: `http://localhost:${port}`,
    ...(database === 'memory'
      ? {}
      : { DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/postgres' }),
  };
  const missing = Object.entries(wanted).filter(([name]) => !known[name]);
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  return { path: '.env', before, after: joined(before, lines), isSecret: true, overwrites: false };
}

function ignored(folder: string): PlannedFile {
  const before = read(folder, '.gitignore');
  const isIgnored =
    isIgnoredByGit(folder, '.env') ?? (before ?? '').split(/\r?\n/).includes('.env');
  const after = isIgnored ? (before ?? '') : joined(before, '.env\n');
  return { path: '.gitignore', before: before ?? '', after, overwrites: false };
}

function joined(before: string | undefined, lines: string): string {
  if (before === undefined || before === '') return lines;
  return lines === '' ? before : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}

export const SCRIPT = 'payments';

export function webhookUrl({ framework, prefix, port }: Project): string {
  const api = framework.startsWith('next') ? '/api' : prefix;
  return `http://localhost:${port}${api}${WEBHOOK}`;
}

function manifest(project: Project): PlannedFile {
  const { folder, manifest: known } = project;
  const before = read(folder, 'package.json')!;
  if (known.scripts?.[SCRIPT] !== undefined)
    return { path: 'package.json', before, after: before, overwrites: false };
  const parsed = JSON.parse(before) as { scripts?: Record<string, string> };
  parsed.scripts = {
    ...parsed.scripts,
    [SCRIPT]: `paylink emulate --dotenv .env --webhook ${webhookUrl(project)}`,
  };
  const indent = /^([ \t]+)"/m.exec(before)?.[1] ?? '  ';
  return {
    path: 'package.json',
    before,
    after: `${JSON.stringify(parsed, undefined, indent)}\n`,
    overwrites: false,
  };
}
