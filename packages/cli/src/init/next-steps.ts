/** The steps that `paylink init` leaves to the user. */
import { readVersion } from '../terminal/version.js';
import { isTrackedByGit } from './git.js';
import { HOSTS } from './hosts.js';
import { loadsDotenv, MEMORY_LINE } from './money.js';
import { SCRIPT, webhookUrl, type CodeFiles } from './plan.js';
import type { Project } from './project.js';

/** The version of packages before their first release. */
const UNPUBLISHED = '0.0.0';

export function nextSteps(project: Project, files: CodeFiles): string[] {
  const { commands, database, framework } = project;
  return [
    ...installLines(project),
    ...(isTrackedByGit(project.folder, '.env')
      ? ['git rm --cached .env   # git tracks the file with your secrets']
      : []),
    ...(database === 'memory'
      ? []
      : [
          `set DATABASE_URL in .env, and the names of your table in ${files.credit} and ` +
            files.orders,
          node(project, files.migration),
        ]),
    testLine(project, files.test),
    ...mountLines(project),
    `${commands.run} ${SCRIPT}   # the payment service on your machine, beside your server${
      framework === 'lambda' ? '' : `, which must answer at ${webhookUrl(project)}`
    }`,
    `call createOrder of ${files.orders} in your checkout, and reconcileOrders every few minutes`,
    ...(database === 'memory'
      ? [
          `before customers pay: replace "${MEMORY_LINE}" in ${files.payments}. A restart ` +
            'forgets ' +
            `which orders were credited. For PostgreSQL: ${commands.install} pg, then ` +
            'paylink init --yes',
        ]
      : []),
  ];
}

function installLines(project: Project): string[] {
  const { commands, framework, isTypeScript, testRunner, database } = project;
  const { dependencies, devDependencies } = project.manifest;
  const known = { ...dependencies, ...devDependencies };
  const absent = (names: readonly string[]): string[] => names.filter((name) => !(name in known));
  const needsTsx = isTypeScript && (testRunner === 'node:test' || database !== 'memory');
  const ours = absent(
    [
      HOSTS[framework].adapter,
      'client',
      'payments',
      ...(database === 'memory' ? [] : ['postgres']),
    ].map((name) => `@paylink/${name}`),
  );
  const oursForDevelopment = absent(['@paylink/cli', '@paylink/emulator', '@paylink/testing']);
  const others = absent(database === 'memory' ? [] : [database]);
  const othersForDevelopment = absent([
    ...(needsTsx ? ['tsx'] : []),
    ...(isTypeScript ? ['@types/node'] : []),
    ...(isTypeScript && database === 'pg' ? ['@types/pg'] : []),
    ...(isTypeScript && testRunner === 'jest' ? ['@types/jest'] : []),
  ]);
  const line = (command: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${command} ${names.join(' ')}`];
  if (readVersion() !== UNPUBLISHED)
    return [
      ...line(commands.install, [...ours, ...others]),
      ...line(commands.installDev, [...oursForDevelopment, ...othersForDevelopment]),
    ];
  const packed = [...ours, ...oursForDevelopment].map((name) => name.replace('@paylink/', ''));
  return [
    ...(packed.length === 0
      ? []
      : [
          `npx -y pnpm@10 pack:all ${packed.join(' ')}   # in a clone of Paylink, because ` +
            'no registry has ' +
            'the packages yet: run the lines that it prints in this folder',
        ]),
    ...line(commands.install, others),
    ...line(commands.installDev, othersForDevelopment),
  ];
}

function node(project: Project, file: string, option = ''): string {
  const { isTypeScript } = project;
  const dotenv = loadsDotenv(project) || option !== '' ? '' : '--env-file=.env ';
  return `node ${dotenv}${isTypeScript ? '--import tsx ' : ''}${option}${file}`;
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
  const { framework, parser, prefix, withoutRawBody } = project;
  const { mount } = HOSTS[framework];
  return [
    ...(mount === '' ? [] : [mount]),
    ...(withoutRawBody === undefined
      ? []
      : [
          `${withoutRawBody.at}: write NestFactory.create(…, { rawBody: true }), or the ` +
            'webhook answers 500',
        ]),
    ...(parser === undefined
      ? []
      : framework === 'nest'
        ? [`${parser.at} mounts a body parser: use app.useBodyParser(), which keeps the raw bytes`]
        : [`${parser.at} mounts a body parser: mount the routes above that line`]),
    ...(prefix === ''
      ? []
      : [`the routes are below the global prefix ${prefix}, also in SHOP_URL`]),
  ];
}
