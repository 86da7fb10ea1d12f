/** Makes the files of a project from the templates and the recipe of its database. */
import { posix } from 'node:path';
import { prismaClientOf } from './find-database.js';
import { HOSTS } from './hosts.js';
import type { Project } from './project.js';
import { joinModules, readRecipe, readTable, readTemplate } from './templates.js';

export const isNext = ({ framework }: Project): boolean => framework.startsWith('next');

/** The folder of the modules, as a path from the project. */
export const codeFolder = (project: Project): string =>
  posix.join(project.source, isNext(project) ? 'lib' : '');

/** Next.js loads .env itself, and AWS sets the environment of a function. */
export const loadsDotenv = (project: Project): boolean =>
  !isNext(project) && project.framework !== 'lambda';

/** The module that holds `find`, `credit` and the statement that inserts an order. */
export function ordersFile(project: Project): string {
  const { database, isTypeScript } = project;
  const { recipe, dialect, insert, createTable } = database;
  const template = (name: string): string => readTemplate(name, isTypeScript);
  const fill = (text: string, place: string, content: string): string =>
    text.replace(place, () => content);
  const sql = createTable === undefined || dialect === undefined ? '' : readTable(dialect);
  const table = fill(
    template(dialect === undefined ? 'create-index' : 'create-table'),
    'SQL',
    sql.replace(/^CREATE TABLE /, '$&IF NOT EXISTS '),
  );
  return joinModules(
    loadsDotenv(project) ? "import './load-env';\n" : '',
    recipe === 'memory' ? template('memory') : recipeOf(project),
    fill(template('create-order'), 'INSERT;', `${insert};`),
    createTable === undefined ? '' : fill(table, 'CREATE;', `${createTable};`),
  );
}

function recipeOf(project: Project): string {
  const { database, folder, isTypeScript } = project;
  const client = prismaClientOf(folder);
  const path = posix.relative(codeFolder(project), client ?? '');
  return readRecipe(database.recipe, isTypeScript).replace(
    /'\.\/\.cache\/\w+\/client\.js'/,
    client === undefined ? "'@prisma/client'" : `'${path.startsWith('.') ? '' : './'}${path}'`,
  );
}

export function paymentsFile(project: Project): string {
  return readTemplate(isNext(project) ? 'payments-next' : 'payments', project.isTypeScript);
}

export function checkoutFile(project: Project): string {
  const template = readTemplate('checkout', project.isTypeScript);
  return isNext(project)
    ? template.replace('paylink.create', 'paylink().create').replace('/payments/', '/api/payments/')
    : template;
}

/** Sends deliveries to the routes in the test. */
export function testHostFile({ framework, isTypeScript }: Project): string {
  const host = readTemplate(`hosts/${framework}.host`, isTypeScript);
  const listening = readTemplate('listening', isTypeScript);
  return HOSTS[framework].listens === true ? joinModules(host, listening) : host;
}

/**
 * The settings of the test. The test imports this file first, because modules read their settings
 * when they are loaded.
 */
export function testSettingsFile({ database, isTypeScript }: Project): string {
  const { place, variables, createTable } = database;
  const isNew = place !== undefined && createTable !== undefined;
  const own = readTemplate(isNew ? 'own-file' : 'own-database', isTypeScript);
  const names = variables.map((name) => `'${name}'`).join(', ');
  return joinModules(
    variables.length === 0 ? '' : own.replace("'VARIABLES'", names),
    readTemplate('payment-test-settings', isTypeScript),
  );
}

const RUNNERS = { vitest: "import { afterAll, beforeAll, it } from 'vitest';\n", jest: '' };

export function testFile({ testRunner, database, isTypeScript }: Project): string {
  const template = readTemplate('payment-webhook.test', isTypeScript);
  const test =
    database.createTable === undefined
      ? template.replace(' createTable,', '').replace('  await createTable();\n', '')
      : template;
  if (testRunner === 'node:test') return test;
  return test
    .replace(/^import .* from 'node:test';\n/m, RUNNERS[testRunner])
    .replace(/^(?:after|before)(?=\()/gm, '$&All');
}
