/** Plans the files that `paylink init` writes, with the difference to each existing file. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseEnv } from 'node:util';
import {
  checkoutFile,
  isNext,
  loadsDotenv,
  ordersFile,
  paymentsFile,
  testFile,
  testHostFile,
  testSettingsFile,
} from './code.js';
import { NEXT_ROUTES, WEBHOOK } from './hosts.js';
import type { Project } from './project.js';
import { render, type Style } from './render.js';
import { readTemplate } from './templates.js';

export interface PlannedFile {
  /** The path inside the project, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Set if only the owner may read the file. */
  readonly isSecret?: boolean;
  /** Set if the user would lose lines. */
  readonly overwrites?: boolean;
}

/** The paths of the files that the next steps name. */
export type CodeFiles = Readonly<
  Record<'payments' | 'orders' | 'checkout' | 'table' | 'test', string>
>;

export function planOf(project: Project): {
  readonly files: readonly PlannedFile[];
  readonly names: CodeFiles;
} {
  const { framework, folder, database, source } = project;
  const style = styleOf(project);
  const template = (name: string): string => readTemplate(name, project.isTypeScript);
  const inCode = (name: string): string =>
    posix.join(source, isNext(project) ? 'lib' : '', `${name}.${extensionOf(project)}`);
  const whole = (path: string, content: string): PlannedFile => {
    const [before, after] = [read(folder, path), render(content, style)];
    return { path, before, after, overwrites: before !== undefined };
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
    ...(loadsDotenv(project) ? [whole(inCode('load-env'), template('load-env'))] : []),
    whole(names.orders, ordersFile(project)),
    whole(names.payments, paymentsFile(project)),
    whole(names.checkout, checkoutFile(project)),
    ...(database.createTable === undefined
      ? []
      : [whole(names.table, template('create-orders-table'))]),
    whole(inCode('payment-webhook'), template(`hosts/${framework}`)),
    ...nextRoutes(project).map(([path, content]) => whole(path, content)),
    whole(inCode('payment-test-settings'), testSettingsFile(project)),
    whole(inCode('payment-test-host'), testHostFile(project)),
    whole(names.test, testFile(project)),
    environment(project),
    ignored(project),
    manifest(project),
  ];
  return { files: files.filter(({ before, after }) => before !== after), names };
}

function extensionOf(project: Project): string {
  if (project.isTypeScript) return 'ts';
  return isNext(project) && !project.isModule ? 'mjs' : 'js';
}

export function styleOf(project: Project): Style {
  const { isTypeScript, isModule } = project;
  const isEsm = isTypeScript || isModule || isNext(project);
  // TypeScript for CommonJS and the bundler of Next.js resolve a file without its extension.
  const needsEnding = isTypeScript ? isModule && !isNext(project) : isEsm;
  const ending = isTypeScript ? '.js' : `.${extensionOf(project)}`;
  return { isTypeScript, isEsm, ending: needsEnding ? ending : '' };
}

/** The routes lead to the modules in `lib`. */
function nextRoutes(project: Project): (readonly [path: string, content: string])[] {
  const { framework, source, isTypeScript } = project;
  return Object.entries(NEXT_ROUTES[framework] ?? {}).map(([route, name]) => {
    const path = posix.join(source, `${route}.${isTypeScript ? 'ts' : 'js'}`);
    const lib = posix.relative(posix.dirname(path), posix.join(source, 'lib'));
    return [path, readTemplate(name, isTypeScript).replace("'./lib/", `'${lib}/`)];
  });
}

function read(folder: string, path: string): string | undefined {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

const PLACES = { DATABASE_FILE: 'shop.db', DATABASE_FOLDER: 'shop-data' };

/** Adds missing lines and keeps existing lines. */
function environment({ folder, database, shopUrl }: Project): PlannedFile {
  const before = read(folder, '.env');
  const known = parseEnv(before ?? '');
  const wanted = {
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    PAYLINK_API_KEY: `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('hex')}`,
    PAYLINK_BASE_URL: 'http://127.0.0.1:4010/api',
    SHOP_URL: shopUrl.href.replace(/\/$/, ''),
    ...(database.place === undefined ? {} : { [database.place]: PLACES[database.place] }),
  };
  const missing = Object.entries(wanted).filter(([name]) => !known[name]);
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  return { path: '.env', before, after: joined(before, lines), isSecret: true };
}

function ignored({ folder, database: { place } }: Project): PlannedFile {
  const before = read(folder, '.gitignore');
  const lines = (before ?? '').split(/\r?\n/);
  // SQLite keeps files beside the database.
  const names = place === undefined ? ['.env'] : ['.env', `${PLACES[place]}*`];
  // The last line that names the file decides.
  const missing = names.filter((name) => lines.lastIndexOf(name) <= lines.lastIndexOf(`!${name}`));
  const added = missing.map((name) => `${name}\n`).join('');
  return { path: '.gitignore', before, after: joined(before, added) };
}

function joined(before: string | undefined, lines: string): string {
  if (before === undefined || before === '') return lines;
  return lines === '' ? before : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}

export const SCRIPT = 'payments';

/** The webhook of Nest has no global prefix. */
export function webhookUrl(project: Project): string {
  return new URL(`${isNext(project) ? '/api' : ''}${WEBHOOK}`, project.shopUrl).href;
}

function manifest(project: Project): PlannedFile {
  const before = read(project.folder, 'package.json')!;
  const parsed = JSON.parse(before) as { scripts?: Record<string, string> };
  const script = `paylink emulate --dotenv .env --webhook ${webhookUrl(project)}`;
  parsed.scripts = { ...parsed.scripts, [SCRIPT]: script };
  const indent = /^([ \t]+)"/m.exec(before)?.[1] ?? '  ';
  const after = `${JSON.stringify(parsed, undefined, indent)}\n`;
  const isKnown = project.manifest.scripts?.[SCRIPT] !== undefined;
  return { path: 'package.json', before, after: isKnown ? before : after };
}
