import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import rows from './packages/testing/src/attacks/rows.json' with { type: 'json' };
import { SOURCE } from './scripts/source.mjs';
import { ChangedFirst } from './test/changed-first.js';

/*
 * A name says how a test file runs, and when:
 *
 *   *.test.ts            with others in one process, in `npm test`
 *   *.alone.*.ts         in a process of its own: it replaces modules, or loads what reads the
 *                        clock or the environment
 *   *.long.test.ts       in `npm test -- --long`: Chromium, killed processes, databases
 *   *.built.test.ts      there too, on the tarballs and on the built command
 *   *.measured.test.ts   in `npm test -- --measured`: it compares times
 *   *.site.test.ts       in `pnpm docs:check`: on the built site
 *   *.full.test.ts       in `pnpm lab full-size`
 */

/** The folder of another raw-body: `pnpm lab newest-raw-body`. */
const RAW_BODY = process.env['PAYLINK_RAW_BODY'];

/**
 * Resolves @paylink packages to their sources. Leaves out the condition `module`: bundlers use it,
 * and Node cannot load its files.
 */
function fromSources(...conditions: string[]) {
  const alias = RAW_BODY === undefined ? {} : { 'raw-body': RAW_BODY };
  const resolve = { alias, conditions: [SOURCE, ...conditions, 'node', 'development|production'] };
  return { resolve, ssr: { resolve } };
}

const CORE = 'packages/core/test/**/*.test.ts';
/** The tests in which signatures are computed. WebCrypto changes nothing for the others of core. */
const PROOF = 'packages/core/test/proof/*.test.ts';
const ADAPTERS = 'test/{adapters,doctor}/**/*.test.ts';
const FOLDERS = '{{packages,examples}/*/test,test,lab}/**';
const ALONE = `${FOLDERS}/*.{alone,alone.long,measured,site}.test.ts`;
const BUILT = `${FOLDERS}/*.{built,full}.test.ts`;
/** `npm test` and `pnpm check` leave the others out. */
const OTHERS =
  process.env['PAYLINK_TESTS'] === 'short' ? ['**/*.{long,built,measured,site,full}.test.ts'] : [];
const exclude = ['**/node_modules/**', ...OTHERS];

/** They end what hangs, and measure nothing: a test that a busy machine slows down is to pass. */
const limits = { testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 10_000 } } };
/** Each file has a thread, which starts in less time than a process. */
const core = { ...limits, pool: 'threads' as const, include: [CORE], exclude: [ALONE] };
/** Files of one process, so that a package is loaded once and not for each file. */
const shared = { ...limits, isolate: false };

export default defineConfig({
  test: {
    // Four on two cores, because many tests wait for a process or a timer.
    maxWorkers: Number(process.env['PAYLINK_TEST_WORKERS'] ?? 4),
    sequence: { sequencer: ChangedFirst },
    // `vitest --tags-filter A01` runs the tests of a row of the attacks.
    tags: Object.entries(rows).map(([name, description]) => ({ name, description })),
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
      { ...fromSources(), test: { name: 'core on node:crypto', ...core } },
      {
        ...fromSources('workerd'),
        test: { name: 'core on WebCrypto', ...core, include: [PROOF] },
      },
      {
        ...fromSources(),
        test: {
          name: 'together',
          include: [`${FOLDERS}/*.test.ts`],
          exclude: [CORE, ADAPTERS, ALONE, BUILT, ...exclude],
          globalSetup: 'packages/cli/test/bundle.ts',
          // Node itself loads the bundle and a merchant's module, as in the command's process.
          server: { deps: { external: [/\/packages\/cli\/\.cache\//] } },
          ...shared,
        },
      },
      {
        ...fromSources(),
        test: {
          name: 'adapters',
          include: [ADAPTERS],
          exclude,
          // Each test ends with the checks of a server under attack.
          setupFiles: 'test/adapters/set-up.ts',
          ...shared,
        },
      },
      { ...fromSources(), test: { name: 'alone', include: [ALONE], exclude, ...limits } },
      {
        test: {
          name: 'built',
          include: [BUILT],
          exclude,
          globalSetup: 'test/packaging/packed.ts',
          env: {
            PAYLINK_COMMAND: fileURLToPath(new URL('packages/cli/dist/main.js', import.meta.url)),
          },
          ...limits,
        },
      },
    ],
  },
});
