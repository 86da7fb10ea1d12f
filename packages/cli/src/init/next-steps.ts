/** The steps that `paylink init` leaves to the user. */
import { isTracked } from '../terminal/git.js';
import { NPX } from '../terminal/shell.js';
import { VERSION } from '../terminal/version.js';
import { isNext, loadsDotenv } from './code.js';
import { HOSTS } from './hosts.js';
import { scriptOf, styleOf, webhookUrl, type CodeFiles } from './plan.js';
import type { Project } from './project.js';
import { render } from './render.js';

/** The version of packages before their first release. */
const UNPUBLISHED = '0.0.0';

export function nextSteps(project: Project, files: CodeFiles): string[] {
  const { commands, framework, database } = project;
  const { recipe, replaced } = database;
  const missing =
    replaced === undefined ? 'no database was found' : `${replaced} has no recipe for this project`;
  const address = `your server must answer at ${webhookUrl(project)}: for another port or prefix, pass --shop-url`;
  const mount = render(HOSTS[framework].mount, styleOf(project)).trimEnd();
  return [
    ...(isTracked('.env')
      ? ['git rm --cached .env   # git tracks it, and it contains secrets']
      : []),
    ...installLines(project),
    ...databaseLines(project, files),
    testLine(project, files.test),
    ...(mount === '' || project.isNew ? [] : [`in your server:\n${mount}`]),
    ...(framework === 'lambda' || project.isNew ? [] : [address]),
    `${commands.run} ${scriptOf(project)}   # the payment service on your machine, next to your server`,
    ...(project.isNew
      ? firstPayment(project)
      : [
          `call checkout from ${files.checkout} when a customer buys (one link per order, so a ` +
            'customer who tries again pays with the same link)',
        ]),
    `${NPX} pay <reference>   # or pay on its page: the payment service logs your server's reply, 200`,
    'schedule every few minutes:',
    ['memory', 'pglite'].includes(recipe)
      ? 'payments.reconcile()   # inside your server, because no other process can use its orders'
      : `${NPX} reconcile --module ./${files.payments} --dotenv .env`,
    ...(recipe === 'memory'
      ? [
          `before customers pay, replace ${files.orders}: ${missing}, and a restart loses the orders`,
        ]
      : []),
  ];
}

/** The server of a new project has a checkout. */
function firstPayment(project: Project): string[] {
  const { commands, shopUrl } = project;
  return [
    `${commands.run} dev   # your server`,
    isNext(project)
      ? `open ${shopUrl.href} and click: your page leads to the payment page`
      : `curl -X POST ${shopUrl.href}checkout   # an order, with its payment page`,
  ];
}

function databaseLines(project: Project, { orders, table }: CodeFiles): string[] {
  const { recipe, place, variables, createTable, prepare, replaced } = project.database;
  if (recipe === 'memory') return [];
  const names = variables.join(' and ');
  const ofTest = variables.map((name) => `TEST_${name}`).join(' and ');
  const isNew = place !== undefined && createTable !== undefined;
  return [
    ...(replaced === undefined
      ? []
      : [`${orders} uses ${recipe} alongside ${replaced}, which has no recipe for this project`]),
    isNew
      ? `${names} in .env points to your orders`
      : `set ${names} in .env, and ${ofTest} to a different database, because the test writes orders`,
    ...(prepare === undefined ? [] : [prepare()]),
    ...(recipe.startsWith('prisma')
      ? [`${project.commands.exec} prisma generate   # writes the client that ${orders} imports`]
      : []),
    ...(createTable === undefined || project.isNew
      ? []
      : [
          `if your orders already have a table, delete createTable from ${orders} and use your column names`,
        ]),
    ...(project.isNew
      ? []
      : [
          'set the time of payment on orders that are already paid, or Paylink can credit them again',
        ]),
    ...(createTable === undefined ? [] : [`${nodeLine(project, table)}   # creates the table`]),
  ];
}

/** The packages that package.json lacks. */
export function missingPackages(
  project: Project,
): Readonly<Record<'production' | 'development', readonly string[]>> {
  const { framework, isTypeScript, testRunner, database } = project;
  const { dependencies = {}, devDependencies = {} } = project.manifest;
  const has = (name: string): boolean => name in dependencies || name in devDependencies;
  // A package for development is missing in production, where the schedule runs.
  const production = [
    ...[HOSTS[framework].adapter, 'client', 'payments'].map((name) => `@paylink/${name}`),
    ...database.packages,
    ...['@paylink/cli', ...(isTypeScript ? ['tsx'] : [])].filter((name) => !has(name)),
  ].filter((name) => !(name in dependencies));
  const types = ['@types/node', ...(database.types ?? [])];
  const development = [
    ...['emulator', 'testing'].map((name) => `@paylink/${name}`),
    ...(isTypeScript ? types : []),
    ...(database.tools ?? []),
    ...(isTypeScript && testRunner === 'jest' ? ['@types/jest'] : []),
  ].filter((name) => !has(name));
  return { production, development };
}

function installLines(project: Project): string[] {
  const { dependencies = {} } = project.manifest;
  const { production, development } = missingPackages(project);
  const isOurs = (name: string): boolean => VERSION === UNPUBLISHED && name.startsWith('@paylink/');
  const packed = [...production, ...development].filter(isOurs);
  // An adapter of another major version than Prisma's client does not fit.
  const [major] = /\d+/.exec(dependencies['@prisma/client'] ?? '') ?? [];
  const versioned = (name: string): string =>
    major !== undefined && name.includes('prisma') ? `${name}@${major}` : name;
  const line = (command: string, names: readonly string[]): string[] => {
    const others = names.filter((name) => !isOurs(name)).map(versioned);
    return others.length === 0 ? [] : [`${command} ${others.join(' ')}`];
  };
  const names = packed.map((name) => name.replace('@paylink/', '')).join(' ');
  const pack =
    `npx -y pnpm@10.34.9 pack:all ${names}   # in a clone of Paylink, because the packages ` +
    'are not published yet. Run the lines that it prints in this folder';
  const lines = [
    ...(packed.length === 0 ? [] : [pack]),
    ...line(project.commands.install, production),
    ...line(project.commands.installDev, development),
  ];
  return lines.length === 0 && project.isNew ? [project.commands.installAll] : lines;
}

function nodeLine(project: Project, file: string, option = ''): string {
  const dotenv = loadsDotenv(project) || option !== '' ? '' : '--env-file=.env ';
  return `node ${dotenv}${project.isTypeScript ? '--import tsx ' : ''}${option}${file}`;
}

function testLine(project: Project, test: string): string {
  const { commands, isModule, isTypeScript, testRunner } = project;
  if (testRunner === 'vitest') return `${commands.exec} vitest run ${test}`;
  // Without a file, node --test of Node 20 finds no TypeScript, runs nothing and exits with 0.
  if (testRunner === 'node:test') return nodeLine(project, test, '--test ');
  if (isTypeScript || !(isModule || isNext(project))) return `${commands.exec} jest ${test}`;
  // Without the option, jest reads ES modules as CommonJS. Not every shell knows NODE_OPTIONS=….
  return `node --experimental-vm-modules node_modules/jest/bin/jest.js ${test}`;
}
