/** Runs Spin, the model checker (Debian: spin, gcc), on payments.pml. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODEL = fileURLToPath(new URL('payments.pml', import.meta.url));

interface Broken {
  readonly what: string;
  /** How many faults lead to its error. */
  readonly faults: number;
}

/** The broken designs by their names in the model. */
export const BROKEN: Readonly<Record<string, Broken>> = {
  UNCONDITIONAL: { what: 'credits without a condition', faults: 1 },
  READ_THEN_WRITE: { what: 'reads the row, then writes', faults: 1 },
  ACKNOWLEDGED_FIRST: { what: 'acknowledges, then credits', faults: 1 },
  COUNT_TRUSTED: { what: 'trusts the count of `credit` and does not read again', faults: 1 },
  OUTCOME_SHARED: { what: 'lets a webhook take the outcome of a page', faults: 1 },
  NO_CONFIRMATION: { what: 'credits without asking the service', faults: 1 },
  LOCK_SURVIVES: { what: 'holds a lock that survives the crash of its process', faults: 2 },
};

export interface Checked {
  readonly errors: number;
  /** The steps that lead to the fault. */
  readonly steps: readonly string[];
  /** The parts of Spin's output that a reader looks for. */
  readonly lines: readonly string[];
}

export interface Check {
  /** How many faults may happen in one history. */
  readonly faults: number;
  readonly design?: string;
  /** Checks that everything paid is credited in the end, with fair processes. */
  readonly liveness?: boolean;
}

/** @throws if Spin or the C compiler is missing, or if the search did not end */
export function check({ faults, design, liveness = false }: Check): Checked {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-model-'));
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const defines = [`-DFAULTS=${faults}`, ...(design === undefined ? [] : [`-D${design}`])];
  // Breadth first finds the shortest way to a fault.
  const search = liveness
    ? ['-DNFAIR=3']
    : ['-DSAFETY', '-DNOCLAIM', ...(design === undefined ? [] : ['-DBFS'])];
  try {
    cpSync(MODEL, join(folder, 'payments.pml'));
    run('spin', '-a', ...defines, 'payments.pml');
    run('gcc', '-w', '-O2', '-DCOLLAPSE', ...search, '-o', 'pan', 'pan.c');
    const output = run('./pan', '-m1000000', ...(liveness ? ['-a', '-f'] : []));
    const found = /errors: (\d+)\n\s*\d+ states, stored/.exec(output);
    if (found === null || /max search depth too small|Search not completed/.test(output))
      if (design === undefined) throw new Error(`Spin did not search everything:\n${output}`);
    const lines = output.split('\n').filter((line) => /errors:|states, stored|^pan:/.test(line));
    const errors = Number(found?.[1]);
    const trail =
      errors > 0 ? run('spin', ...defines, '-t', '-k', 'payments.pml.trail', 'payments.pml') : '';
    const steps = [...trail.matchAll(/STEP (.*)/g)].map(([, step]) => step!.trim());
    return { errors, steps, lines };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
