import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/bootstrap.mjs';
import { startPostgres } from '../../test/servers/postgres.js';
import { ADAPTERS, type Target } from './targets.js';

/** What Stryker found of one mutant; the part of its report that is needed here. */
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
  /** The copy of the checkout in which the mutants are tried. */
  readonly copy: string;
  /** Where reports are kept, and what a later run needs to try only what changed since. */
  readonly results: string;
  /** Globs, or files with a range of lines; in place of all the target's sources. */
  readonly mutate: readonly string[];
  /** Whether to ask the suite of the adapters too. */
  readonly asksHosts: boolean;
  readonly concurrency: number;
  /** Tries all mutants again, also those whose code and tests are as they were. */
  readonly fresh: boolean;
}

/** Runs Stryker on one target, and gives its report of all the files that were mutated. */
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
    // A test that waits for what never comes ends by its own limit: what takes so long is a loop
    // without end.
    timeoutMS: 20_000,
    incremental: true,
    incrementalFile,
    force: fresh,
    reporters: ['json', 'html', 'progress-append-only'],
    jsonReporter: { fileName: json },
    htmlReporter: { fileName: join(results, `${target.name}.html`) },
    // A busy machine takes long for all tests of a target at once.
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
 * So that a later run tries them again: of a mutant of a module's own constant Stryker does not
 * know which new test concerns it.
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
