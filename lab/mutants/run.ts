import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/bootstrap.mjs';
import { startPostgres } from '../../test/servers/postgres.js';
import { ADAPTERS, type Target } from './targets.js';

/** The used part of Stryker's report on one mutant. */
export interface Mutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status:
    | 'Killed'
    | 'Timeout'
    | 'Survived'
    | 'NoCoverage'
    | 'RuntimeError'
    | 'CompileError'
    | 'Ignored'
    | 'Pending';
  readonly statusReason?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Report {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>
  >;
}

export interface Settings {
  /** The copy of the checkout for the mutants. */
  readonly copy: string;
  /** The folder of the reports, and of the state that lets a later run try only changes. */
  readonly results: string;
  /** Globs, or files with line ranges, instead of all the target's sources. */
  readonly mutate: readonly string[];
  /** Set to run the adapters' suite too. */
  readonly asksHosts: boolean;
  readonly concurrency: number;
  /** Tries all mutants again, even those with unchanged code and tests. */
  readonly fresh: boolean;
}

/** Runs Stryker on one target, and returns its report of all mutated files. */
export async function runStryker(
  target: Target,
  { copy, results, mutate, asksHosts, concurrency, fresh }: Settings,
): Promise<Report> {
  mkdirSync(results, { recursive: true });
  const incrementalFile = join(results, `${target.name}.incremental.json`);
  forgetSurvivors(incrementalFile);
  const json = join(copy, 'mutants.json');
  const options = {
    testRunner: 'vitest',
    plugins: [
      import.meta.resolve('@stryker-mutator/vitest-runner'),
      join(copy, 'lab/mutants/ignore-messages.mjs'),
    ],
    ignorers: ['messages'],
    vitest: { configFile: join(copy, 'lab/mutants/vitest.config.ts') },
    mutate,
    inPlace: true,
    coverageAnalysis: 'perTest',
    concurrency,
    disableTypeChecks: false,
    // Tests that wait too long end by their own limit, so a longer run is an endless loop.
    timeoutMS: 20_000,
    incremental: true,
    incrementalFile,
    force: fresh,
    reporters: ['json', 'html', 'progress-append-only'],
    jsonReporter: { fileName: json },
    htmlReporter: { fileName: join(results, `${target.name}.html`) },
    // A busy machine needs long for all tests of a target at once.
    dryRunTimeoutMinutes: 15,
    allowEmpty: true,
  };
  const file = join(copy, 'stryker.json');
  writeFileSync(file, JSON.stringify(options));
  const cli = join(
    dirname(fileURLToPath(import.meta.resolve('@stryker-mutator/core'))),
    '../../bin/stryker.js',
  );
  const tests = JSON.stringify({
    tests: asksHosts ? [...target.tests, ...ADAPTERS] : target.tests,
    onWebCrypto: target.onWebCrypto ?? [],
  });
  const postgres =
    target.onPostgres === true
      ? await startPostgres({ fsync: 'off', deadlock_timeout: '50ms' })
      : undefined;
  const env = {
    PAYLINK_MUTANTS_TESTS: tests,
    ...(target.hosts && { PAYLINK_HOSTS: target.hosts.join() }),
    ...(postgres && { PAYLINK_SHARED_POSTGRES: postgres.url }),
  };
  const stryker = run(process.execPath, [cli, 'run', file], {
    cwd: copy,
    env: { ...process.env, ...env },
  });
  const code = await stryker.finally(() => postgres?.close());
  if (code !== 0) throw new Error(`Stryker ended with ${code}`);
  return JSON.parse(readFileSync(json, 'utf8')) as Report;
}

/**
 * Makes a later run try the survivors again. Stryker does not know which new test concerns a mutant
 * of a module-level constant.
 */
function forgetSurvivors(incrementalFile: string): void {
  if (!existsSync(incrementalFile)) return;
  const report = JSON.parse(readFileSync(incrementalFile, 'utf8')) as {
    files: Record<string, { mutants: Mutant[] }>;
  };
  for (const file of Object.values(report.files)) {
    file.mutants = file.mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  }
  writeFileSync(incrementalFile, JSON.stringify(report));
}
