/**
 * `pnpm lab mutants`: Stryker puts faults into the sources of core and payments, one at a time.
 * A later run tries only changed code and changed tests (`--force` tries all). Options of
 * `stryker run` follow, such as `--mutate packages/core/src/signature.ts`.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'lab/mutants/vitest.config.ts' },
  mutate: ['packages/{core,payments}/src/**/*.ts', '!packages/core/src/diagnosis/**'],
  ignorePatterns: ['docs', 'examples', '**/dist', '**/.cache', 'tarballs'],
  coverageAnalysis: 'perTest',
  disableTypeChecks: false,
  incremental: true,
  incrementalFile: '.cache/mutants/incremental.json',
  reporters: ['progress-append-only', 'clear-text', 'html'],
  clearTextReporter: { allowColor: false, reportTests: false },
  htmlReporter: { fileName: '.cache/mutants/index.html' },
  tempDirName: '.cache/stryker',
  timeoutMS: 20_000,
  thresholds: { high: 95, low: 90, break: 90 },
};
