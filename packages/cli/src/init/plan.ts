/** Plans the files that `paylink init` writes, with the difference to each existing file. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseEnv } from 'node:util';
import { isIgnoredByGit } from './git.js';
import { HOSTS, NEXT_ROUTES, WEBHOOK } from './hosts.js';
import {
  checkoutFile,
  DOTENV,
  isNext,
  loadsDotenv,
  ordersFile,
  paymentsFile,
  TABLE_FILE,
} from './code.js';
import type { Project } from './project.js';
import { render, type Style } from './render.js';
import { testFile, testSettingsFile } from './test-file.js';

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

/** The paths of the files that the next steps name. */
export interface CodeFiles {
  readonly payments: string;
  readonly orders: string;
  readonly checkout: string;
  readonly table: string;
  readonly test: string;
}

export function planOf(project: Project): Plan {
  const { framework, folder, database } = project;
  const style = styleOf(project);
  const extension = extensionOf(project);
  const inCode = (name: string): string =>
    posix.join(project.source, isNext(project) ? 'lib' : '', `${name}.${extension}`);
  const whole = (path: string, template: string): PlannedFile => {
    const [before, after] = [read(folder, path), render(template, style)];
    return { path, before, after, overwrites: before !== undefined && before !== after };
  };
  const names: CodeFiles = {
    payments: inCode('payments'),
    orders: inCode('orders'),
    checkout: inCode('checkout'),
    table: inCode('create-orders-table'),
    // Nest's own projects look for `.spec.ts`.
    test: inCode(`payment-webhook.${framework === 'nest' ? 'spec' : 'test'}`),
  };
  const files = [
    ...(loadsDotenv(project) ? [whole(inCode('load-env'), DOTENV)] : []),
    whole(names.orders, ordersFile(project)),
    whole(names.payments, paymentsFile(project)),
    whole(names.checkout, checkoutFile(project)),
    ...(database.createTable === undefined ? [] : [whole(names.table, TABLE_FILE)]),
    whole(inCode('payment-webhook'), HOSTS[framework].routes),
    ...nextRoutes(project).map(([path, template]) => whole(path, template)),
    whole(inCode('payment-test-settings'), testSettingsFile(project)),
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

export function styleOf(project: Project): Style {
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

const ADDRESSES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postgres: {
    DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/postgres',
    TEST_DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/test',
  },
  mysql: {
    DATABASE_URL: 'mysql://root@127.0.0.1:3306/shop',
    TEST_DATABASE_URL: 'mysql://root@127.0.0.1:3306/test',
  },
  DATABASE_FILE: { DATABASE_FILE: 'shop.db' },
  DATABASE_FOLDER: { DATABASE_FOLDER: 'shop-data' },
};

/** Adds missing lines and keeps existing lines. */
function environment({ folder, database, port, prefix }: Project): PlannedFile {
  const before = read(folder, '.env');
  const known = parseEnv(before ?? '');
  const wanted = {
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    PAYLINK_API_KEY: `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('hex')}`,
    PAYLINK_BASE_URL: 'http://127.0.0.1:4010/api',
    SHOP_URL: `http://localhost:${port}${prefix}`,
    ...ADDRESSES[database.place ?? database.dialect ?? 'none'],
  };
  const missing = Object.entries(wanted).filter(([name]) => !known[name]);
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  return { path: '.env', before, after: joined(before, lines), isSecret: true, overwrites: false };
}

function ignored(folder: string): PlannedFile {
  const before = read(folder, '.gitignore');
  const lines = (before ?? '').split(/\r?\n/);
  // The last line that names the file decides.
  const isListed = lines.lastIndexOf('.env') > lines.lastIndexOf('!.env');
  const isIgnored = isIgnoredByGit(folder, '.env') ?? isListed;
  const after = isIgnored ? (before ?? '') : joined(before, '.env\n');
  return { path: '.gitignore', before: before ?? '', after, overwrites: false };
}

function joined(before: string | undefined, lines: string): string {
  if (before === undefined || before === '') return lines;
  return lines === '' ? before : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}

export const SCRIPT = 'payments';

export function webhookUrl({ framework, port }: Project): string {
  const api = framework.startsWith('next') ? '/api' : '';
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
