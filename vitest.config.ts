import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ChangedFirst } from './test/changed-first.js';

/**
 * Resolves @paylink packages to their sources instead of their builds. Leaves out the condition
 * `module`: bundlers use it, and Node cannot load its files.
 */
function fromSources(...conditions: string[]) {
  const resolve = {
    conditions: ['@paylink/source', ...conditions, 'node', 'development|production'],
  };
  return { resolve, ssr: { resolve } };
}

/** These run what is published: tarballs, builds by Next.js, projects that `paylink init` made. */
const BUILT = [
  'test/packaging/**/*.test.ts',
  'test/runtimes/**/*.test.ts',
  'test/types/matrix.test.ts',
  'examples/next/test/*.test.ts',
  'packages/cli/test/{docker,init}.test.ts',
  'test/docs/{lambda,quick-start,quick-start-supabase,testing}.test.ts',
];
/** The full size of what the other projects run in a short form: `pnpm lab full-size`. */
const FULL_SIZE = [
  'packages/next/test/next-15.test.ts',
  'test/docs/{quick-start,quick-start-supabase}.test.ts',
  'test/money/{million,rate-limit}.test.ts',
  'test/types/matrix.test.ts',
];
const ON_OLDER_HOSTS = ['test/adapters/{invariants,slow-senders,transport}.test.ts'];
const FULL = {
  PAYLINK_QUICK_STARTS: 'all',
  PAYLINK_OLDER_HOSTS: 'true',
  PAYLINK_TYPESCRIPT: 'all',
  PAYLINK_REFERENCES: '1000000',
  PAYLINK_NOTIFICATIONS: '600',
};
/**
 * These compare times, so they run alone, after all others: what runs beside them would be measured
 * too.
 */
const MEASURED = ['test/timing/**/*.test.ts', 'test/diagnosis/{budget,fire}.test.ts'];
/** Chromium, a compiler, killed processes, another Node, broken apps, nights on call. */
const LONG = [
  'test/browser/**/*.test.ts',
  'test/audit/**/*.test.ts',
  'test/docs/{runbook,schedule}.test.ts',
  'test/money/{million,rate-limit}.test.ts',
  'packages/cli/test/audit.test.ts',
  'test/adapters/{newest-node,process}.test.ts',
];
/** What they load reads the clock or the address of a database at once, so each needs a process. */
const LONG_ALONE = [
  'lab/**/*.test.ts',
  'examples/queues/test/*.test.ts',
  'examples/databases/test/{better-sqlite3,d1,dynamodb}.test.ts',
  'test/orders/{postgres,mariadb,conditions,supabase}.test.ts',
];
/**
 * They end what hangs, and measure nothing: a test that a busy machine slows down sixfold is to
 * pass.
 */
const limits = { testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 10_000 } } };
/** Their files share a process, so that a package is loaded once and not for each file. */
const shared = { ...limits, isolate: false };
/** Measures the time of its process, which must run nothing else. */
const LINEAR_TIME = 'packages/core/test/linear-time.test.ts';
/** Each file has a thread, which starts in less time than a process. */
const core = {
  ...limits,
  pool: 'threads' as const,
  include: ['packages/core/test/**/*.test.ts'],
  exclude: [LINEAR_TIME],
};
/** These replace modules or read the environment when they load, so each needs a process. */
const ALONE = [
  LINEAR_TIME,
  'examples/{databases,lambda,migration,nest,next,observability,queues,testing}/test/*.test.ts',
  'packages/{client/test/retry,client/test/secrecy,hono/test/payment-webhook}.test.ts',
  'packages/{nest/test/nest-10,next/test/*,node/test/read-body}.test.ts',
  'packages/payments/test/pace.test.ts',
];
/** These run the command's bundled sources. */
const CLI = ['packages/cli/test/**/*.test.ts', 'test/docs/shell-lines.test.ts'];
const bundled = { globalSetup: 'packages/cli/test/bundle.ts' };
/** Each test ends with the checks of a server under attack. */
const attacked = { ...shared, setupFiles: 'test/adapters/set-up.ts' };
const ATTACKED = ['test/{adapters,doctor}/**/*.test.ts'];
/** The built command. */
const COMMAND = {
  PAYLINK_COMMAND: fileURLToPath(new URL('packages/cli/dist/main.js', import.meta.url)),
};
/** These install the packed tarballs. */
const packed = { ...limits, globalSetup: 'test/packaging/packed.ts' };
/** These look at the built site: `pnpm docs:check`. */
const SITE = ['test/site/built/**/*.test.ts'];
const exclude = [
  '**/node_modules/**',
  ...BUILT,
  ...MEASURED,
  ...LONG,
  ...LONG_ALONE,
  ...FULL_SIZE,
  ...SITE,
];

export default defineConfig({
  test: {
    // Four on two cores, because many tests wait for a process or a timer.
    maxWorkers: Number(process.env['PAYLINK_TEST_WORKERS'] ?? 4),
    sequence: { sequencer: ChangedFirst },
    coverage: {
      // V8 counts branches that differ from run to run if two projects load one file.
      provider: 'istanbul',
      include: ['packages/*/src/**'],
      reporter: ['text-summary'],
      thresholds: {
        'packages/core/src/**': { statements: 98, branches: 97, functions: 98, lines: 98 },
      },
    },
    projects: [
      {
        ...fromSources(),
        test: { name: 'core on node:crypto', ...core },
      },
      {
        ...fromSources('workerd'),
        test: { name: 'core on WebCrypto', ...core },
      },
      {
        ...fromSources(),
        test: {
          name: 'packages',
          ...shared,
          include: ['packages/*/test/**/*.test.ts'],
          exclude: ['packages/core/**', ...ALONE, ...CLI, ...exclude],
        },
      },
      {
        ...fromSources(),
        test: {
          name: 'alone',
          ...limits,
          include: ALONE,
          exclude,
        },
      },
      {
        ...fromSources(),
        test: { name: 'cli', include: CLI, exclude, ...shared, ...bundled },
      },
      {
        ...fromSources(),
        test: { name: 'adapters', include: ATTACKED, exclude, ...attacked },
      },
      {
        ...fromSources(),
        test: {
          name: 'across packages',
          include: ['test/**/*.test.ts', 'examples/*/test/*.test.ts'],
          exclude: [...ATTACKED, ...ALONE, ...CLI, ...exclude],
          ...shared,
        },
      },
      {
        ...fromSources(),
        test: {
          name: 'measured',
          include: MEASURED,
          ...limits,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...fromSources(),
        test: {
          name: 'lab',
          include: LONG,
          exclude: ['**/node_modules/**'],
          ...shared,
          ...bundled,
        },
      },
      { ...fromSources(), test: { name: 'lab alone', include: LONG_ALONE, ...limits } },
      { ...fromSources(), test: { name: 'site', include: SITE, ...limits, testTimeout: 60_000 } },
      {
        test: {
          name: 'built',
          include: BUILT,
          exclude: ['**/node_modules/**'],
          env: COMMAND,
          ...packed,
        },
      },
      {
        ...fromSources(),
        test: {
          name: 'full size',
          include: FULL_SIZE,
          env: FULL,
          ...packed,
        },
      },
      {
        ...fromSources(),
        test: { name: 'older hosts', include: ON_OLDER_HOSTS, env: FULL, ...attacked },
      },
    ],
  },
});
