/** The steps that `paylink init` leaves to the user. */
import { NPX } from '../terminal/shell.js';
import { VERSION } from '../terminal/version.js';
import { loadsDotenv } from './code.js';
import { isTrackedByGit } from './git.js';
import { HOSTS } from './hosts.js';
import { SCRIPT, styleOf, webhookUrl, type CodeFiles } from './plan.js';
import type { Project } from './project.js';
import { render } from './render.js';

/** The version of packages before their first release. */
const UNPUBLISHED = '0.0.0';

export function nextSteps(project: Project, files: CodeFiles): string[] {
  const { commands, database, framework } = project;
  return [
    ...installLines(project),
    ...(isTrackedByGit(project.folder, '.env')
      ? ['git rm --cached .env   # git tracks the file with your secrets']
      : []),
    ...databaseLines(project, files),
    testLine(project, files.test),
    ...mountLines(project),
    `${commands.run} ${SCRIPT}   # the payment service on your machine, beside your server${
      framework === 'lambda' ? '' : `, which must answer at ${webhookUrl(project)}`
    }`,
    `call checkout of ${files.checkout} where a customer buys, and schedule every few minutes:`,
    `${NPX} reconcile --module ./${files.payments} --dotenv .env`,
    ...(database.recipe === 'memory' ? [memoryLine(project, files)] : []),
  ];
}

function memoryLine({ database }: Project, { orders }: CodeFiles): string {
  const found =
    database.unsupported === undefined
      ? 'no database was found'
      : `${database.unsupported} has no recipe in this command`;
  return `before customers pay: ${found}, so ${orders} keeps orders in memory, and a restart forgets them. Replace that file`;
}

function databaseLines(project: Project, { orders, table }: CodeFiles): string[] {
  const { database } = project;
  if (database.recipe === 'memory') return [];
  const address =
    database.place === undefined
      ? 'set DATABASE_URL in .env, and TEST_DATABASE_URL to another database: the test writes orders'
      : `set ${database.place} in .env`;
  if (database.createTable === undefined) {
    return [
      address,
      `if your schema.prisma has no orders, add the model, then migrate both databases:\n${MODEL}`,
    ];
  }
  return [
    address,
    `if your orders have a table, delete createTable of ${orders}, and name your columns there`,
    `${node(project, table)}   # creates the table`,
  ];
}

const MODEL = `  model Order {
    reference String    @id
    amount    BigInt
    currency  String
    createdAt DateTime  @default(now()) @map("created_at")
    paidAt    DateTime? @map("paid_at")
    @@map("orders")
  }`;

function installLines(project: Project): string[] {
  const { commands, framework, isTypeScript, testRunner, database } = project;
  const { dependencies = {}, devDependencies = {} } = project.manifest;
  // A package for development is missing in production.
  const absent = (names: readonly string[]): string[] =>
    names.filter((name) => !(name in dependencies));
  const absentForDevelopment = (names: readonly string[]): string[] =>
    names.filter((name) => !(name in dependencies) && !(name in devDependencies));
  const needsTsx =
    isTypeScript && (testRunner === 'node:test' || database.createTable !== undefined);
  const ours = absent(
    [HOSTS[framework].adapter, 'client', 'payments'].map((name) => `@paylink/${name}`),
  );
  const oursForDevelopment = absentForDevelopment(
    ['cli', 'emulator', 'testing'].map((name) => `@paylink/${name}`),
  );
  const others = absent(database.packages);
  const othersForDevelopment = absentForDevelopment([
    ...(needsTsx ? ['tsx'] : []),
    ...(isTypeScript ? ['@types/node', ...(database.types ?? [])] : []),
    ...(isTypeScript && testRunner === 'jest' ? ['@types/jest'] : []),
  ]);
  const line = (command: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${command} ${names.join(' ')}`];
  if (VERSION !== UNPUBLISHED) {
    return [
      ...line(commands.install, [...ours, ...others]),
      ...line(commands.installDev, [...oursForDevelopment, ...othersForDevelopment]),
    ];
  }
  const packed = [...ours, ...oursForDevelopment].map((name) => name.replace('@paylink/', ''));
  return [
    ...(packed.length === 0
      ? []
      : [
          `npx -y pnpm@10 pack:all ${packed.join(' ')}   # in a clone of Paylink, because no ` +
            'registry has the packages yet: run the lines that it prints in this folder',
        ]),
    ...line(commands.install, others),
    ...line(commands.installDev, othersForDevelopment),
  ];
}

function node(project: Project, file: string, option = ''): string {
  const dotenv = loadsDotenv(project) || option !== '' ? '' : '--env-file=.env ';
  return `node ${dotenv}${project.isTypeScript ? '--import tsx ' : ''}${option}${file}`;
}

function testLine(project: Project, test: string): string {
  const { commands, framework, isModule, isTypeScript, testRunner } = project;
  if (testRunner === 'vitest') return `${commands.exec} vitest run ${test}`;
  // Without a file, node --test of Node 20 finds no TypeScript, runs nothing and exits with 0.
  if (testRunner === 'node:test') return node(project, test, '--test ');
  if (isTypeScript || !(isModule || framework.startsWith('next')))
    return `${commands.exec} jest ${test}`;
  // Without the option, jest reads ES modules as CommonJS. Not every shell knows NODE_OPTIONS=….
  return `node --experimental-vm-modules node_modules/jest/bin/jest.js ${test}`;
}

function mountLines(project: Project): string[] {
  const { framework, parser, prefix } = project;
  const { mount } = HOSTS[framework];
  return [
    ...(mount === '' ? [] : [render(mount, styleOf(project)).trimEnd()]),
    ...(parser === undefined
      ? []
      : [`${parser.at} mounts a body parser: mount the routes above that line`]),
    ...(prefix === ''
      ? []
      : [
          `the return page is below the global prefix ${prefix}, as SHOP_URL says, and the webhook is not`,
        ]),
  ];
}
