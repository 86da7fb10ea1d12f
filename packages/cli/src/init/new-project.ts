/** The server and the settings that `paylink init` adds in a folder without code. */
import { usageFailure } from '../terminal/failure.js';
import { readTemplate } from './templates.js';
import type { Framework } from './hosts.js';
import type { Manifest } from './manifest.js';

type Ranges = Readonly<Record<string, string>>;

const TOOLS = { '@types/node': '^20.19.0', typescript: '^5.9.0' };
const PACKAGES: Readonly<Partial<Record<Framework, readonly [Ranges, Ranges?]>>> = {
  express: [{ express: '^5.1.0' }, { '@types/express': '^5.0.0' }],
  fastify: [{ fastify: '^5.4.0' }],
  koa: [{ koa: '^3.0.0' }, { '@types/koa': '^3.0.0' }],
  hono: [{ '@hono/node-server': '^2.0.0', hono: '^4.8.0' }],
  node: [{}],
  'next-app': [
    { next: '^16.0.0', react: '^19.0.0', 'react-dom': '^19.0.0' },
    { '@types/react': '^19.0.0' },
  ],
};

const STRICT = { strict: true, noEmit: true, skipLibCheck: true };
const TSCONFIG = { module: 'nodenext', target: 'es2023', types: ['node'], ...STRICT };
const NEXT_TSCONFIG = {
  ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2023', jsx: 'react-jsx' },
  ...{ lib: ['dom', 'dom.iterable', 'es2023'], types: ['node'], plugins: [{ name: 'next' }] },
  ...{ allowJs: true, esModuleInterop: true, isolatedModules: true, incremental: true },
  ...{ resolveJsonModule: true, ...STRICT },
};
const NEXT_FILES = {
  include: ['next-env.d.ts', '**/*.ts', '**/*.tsx', '.next/types/**/*.ts'],
  exclude: ['node_modules'],
};

/**
 * Returns the manifest of a new project, with the packages that its folder has already.
 *
 * @throws Failure for a framework with a tool of its own
 */
export function newManifest(framework: Framework, known: Manifest): Manifest {
  const packages = PACKAGES[framework];
  if (packages === undefined)
    throw usageFailure(
      `this folder has no ${framework} code`,
      `create the ${framework} project with its own tool, then run the command again`,
    );
  const isNext = framework === 'next-app';
  const test = `tsc && node --import tsx --test ${isNext ? 'lib/' : ''}payment-webhook.test.ts`;
  const scripts = isNext
    ? { dev: 'next dev', build: 'next build', start: 'next start', test }
    : { dev: 'tsx watch server.ts', start: 'tsx server.ts', test };
  return {
    ...known,
    private: true,
    type: 'module',
    scripts: { ...known.scripts, ...scripts },
    dependencies: { ...packages[0], libsql: '^0.5.0', tsx: '^4.20.0', ...known.dependencies },
    devDependencies: { ...packages[1], ...TOOLS, ...known.devDependencies },
  };
}

/** Returns the texts of the files that only a new project gets, by path. */
export function newFiles(framework: Framework): Ranges {
  const isNext = framework === 'next-app';
  const tsconfig = isNext
    ? { compilerOptions: NEXT_TSCONFIG, ...NEXT_FILES }
    : { compilerOptions: TSCONFIG };
  const server = readTemplate(`servers/${framework}`, true);
  return {
    'tsconfig.json': `${JSON.stringify(tsconfig, undefined, 2)}\n`,
    ...(isNext
      ? {
          'app/api/checkout/route.ts': server.replace("'./lib/", "'../../../lib/"),
          'app/layout.tsx': readTemplate('servers/next-layout', true, 'tsx'),
          'app/page.tsx': readTemplate('servers/next-page', true, 'tsx'),
        }
      : { 'server.ts': server }),
  };
}
