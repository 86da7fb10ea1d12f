/** Plans the files that `paylink init` writes, with the difference to each existing file. */
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import {
  checkoutFile,
  codeFolder,
  isNext,
  loadsDotenv,
  ordersFile,
  paymentsFile,
  testFile,
  testHostFile,
  testSettingsFile,
} from './code.js';
import { NEXT_ROUTES, WEBHOOK } from './hosts.js';
import { newFiles } from './new-project.js';
import type { Project } from './project.js';
import { render, type Style } from './render.js';
import { readTemplate } from './templates.js';
import { readText } from './text.js';

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
  const { framework, folder, database } = project;
  const style = styleOf(project);
  const template = (name: string): string => readTemplate(name, project.isTypeScript);
  const inCode = (name: string): string =>
    posix.join(codeFolder(project), `${name}.${extensionOf(project)}`);
  const whole = (path: string, content: string): PlannedFile => {
    const [before, after] = [readText(folder, path), render(content, style)];
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
    ...Object.entries(project.isNew ? newFiles(framework) : {}).map(([path, text]) =>
      whole(path, text),
    ),
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

const PLACES = { DATABASE_FILE: 'shop.db', DATABASE_FOLDER: 'shop-data' };

/** Adds missing lines, and keeps existing lines but an address that the user has replaced. */
function environment({ folder, env, database, shopUrl, isShopUrlGiven }: Project): PlannedFile {
  const before = readText(folder, '.env');
  const wanted = {
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    PAYLINK_API_KEY: `sk_live_${randomBytes(6).toString('hex')}.${randomBytes(24).toString('hex')}`,
    PAYLINK_BASE_URL: 'http://127.0.0.1:4010/api',
    SHOP_URL: shopUrl.href.replace(/\/$/, ''),
    ...(database.place === undefined ? {} : { [database.place]: PLACES[database.place] }),
  };
  const missing = Object.entries(wanted).filter(([name]) => !env[name]);
  const lines = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  const kept = isShopUrlGiven
    ? before?.replace(/^( *(?:export +)?SHOP_URL *= *)\S.*$/gm, `$1${wanted.SHOP_URL}`)
    : before;
  return { path: '.env', before, after: joined(kept, lines), isSecret: true };
}

function ignored({ folder, isNew, database: { place } }: Project): PlannedFile {
  const before = readText(folder, '.gitignore');
  const lines = (before ?? '').split(/\r?\n/);
  // SQLite keeps files beside the database.
  const own = place === undefined ? ['.env'] : ['.env', `${PLACES[place]}*`];
  const names = [...own, ...(isNew ? ['node_modules', '.next'] : [])];
  // The last line that matches the file decides, and a line such as "!.env*" takes it back.
  const taken = lines.findLastIndex((line) => line.startsWith('!'));
  const missing = names.filter((name) => lines.lastIndexOf(name) <= taken);
  const added = missing.map((name) => `${name}\n`).join('');
  return { path: '.gitignore', before, after: joined(before, added) };
}

function joined(before: string | undefined, lines: string): string {
  if (before === undefined || before === '') return lines;
  return lines === '' ? before : `${before}${before.endsWith('\n') ? '' : '\n'}${lines}`;
}

const COMMAND = 'paylink emulate --dotenv .env --webhook ';

/** The name of the script that starts the emulator. */
export function scriptOf({ manifest: { scripts = {} } }: Project): string {
  const { payments = COMMAND } = scripts;
  return payments.includes('paylink emulate') ? 'payments' : 'paylink';
}

/** The webhook of Nest has no global prefix. */
export function webhookUrl(project: Project): string {
  const { origin, pathname } = project.shopUrl;
  const prefix = project.framework === 'nest' ? '' : pathname.replace(/\/$/, '');
  return `${origin}${prefix}${isNext(project) ? '/api' : ''}${WEBHOOK}`;
}

function manifest(project: Project): PlannedFile {
  const before = readText(project.folder, 'package.json');
  const parsed = { ...project.manifest };
  const name = scriptOf(project);
  const known = project.manifest.scripts?.[name];
  const url = webhookUrl(project);
  const script = known?.replace(/(--webhook )\S+/, `$1${url}`) ?? `${COMMAND}${url}`;
  parsed.scripts = { ...parsed.scripts, [name]: script };
  const indent = /^([ \t]+)"/m.exec(before ?? '')?.[1] ?? '  ';
  const after = `${JSON.stringify(parsed, undefined, indent)}\n`;
  const isKept = known !== undefined && (script === known || !project.isShopUrlGiven);
  return { path: 'package.json', before, after: isKept ? (before ?? after) : after };
}
