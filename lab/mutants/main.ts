/**
 * Puts faults into the sources, one at a time, and lists the faults that no test notices (Stryker).
 * Exits with 1 if the tests of a package notice less than 90 %.
 *
 *     pnpm lab mutants [--package NAME]… [--file PATH[:FIRST-LAST]]… [--changed [--since COMMIT]]
 *       [--concurrency N] [--fresh]
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../options.js';
import { changedLines, mergeBase } from './changed.js';
import { copyOfCheckout } from './copy.js';
import { runStryker } from './run.js';
import { scores, type Score } from './survivors.js';
import { LEAST, TARGETS, type Target } from './targets.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const { values } = readOptions({
  options: {
    package: { type: 'string', multiple: true, default: [] },
    file: { type: 'string', multiple: true, default: [] },
    changed: { type: 'boolean', default: false },
    since: { type: 'string' },
    concurrency: { type: 'string', default: '1' },
    fresh: { type: 'boolean', default: false },
  },
});
const unknown = values.package.filter((name) => !TARGETS.some((target) => target.name === name));
if (unknown.length > 0) {
  console.error(
    `Unknown package ${unknown.join(', ')}. Valid packages: ` +
      TARGETS.map(({ name }) => name).join(', '),
  );
  process.exit(2);
}

/** Returns the requested files of the target, or all files without a request. */
function mutatedIn(
  { name, sources }: Target,
  wanted: readonly string[] | undefined,
): readonly string[] {
  if (values.package.length > 0 && !values.package.includes(name)) return [];
  return wanted === undefined
    ? [`${sources}**/*.ts`]
    : wanted.filter((path) => path.startsWith(sources));
}

function table(rows: readonly Score[]): string {
  const lines = rows.map(({ file, noticed, survivors }) => {
    const all = noticed + survivors.length;
    return (
      `${file.padEnd(48)} ` +
      [all, noticed, survivors.length].map((count) => String(count).padStart(9)).join(' ')
    );
  });
  return [`${''.padEnd(48)}   mutants   noticed  survived`, ...lines].join('\n');
}

const faults: string[] = [];

// GitHub sends zeros for the commit before the first push.
const since = /^0*$/.test(values.since ?? '') ? mergeBase(ROOT) : values.since!;
const lines = values.changed ? changedLines(ROOT, since) : undefined;
const wanted = lines ?? (values.file.length > 0 ? values.file : undefined);
const chosen = TARGETS.map((target) => ({ target, mutate: mutatedIn(target, wanted) })).filter(
  ({ mutate }) => mutate.length > 0,
);
const results = join(ROOT, '.cache/mutants');
const sum = (rows: readonly Score[], count: (row: Score) => number): number =>
  rows.reduce((total, row) => total + count(row), 0);

let ran = 0;
if (chosen.length === 0) console.log('nothing to mutate');
for (const { target, mutate } of chosen) {
  const copy = copyOfCheckout(ROOT);
  try {
    // The report also has earlier results of files that were not requested.
    const asked = new Set(mutate.map((path) => path.replace(/:[\d-]+$/, '')));
    const tried = async (asksHosts: boolean, fresh: boolean) => {
      const report = await runStryker(target, {
        copy,
        results,
        mutate,
        asksHosts,
        concurrency: Number(values.concurrency),
        fresh,
      });
      const files = Object.entries(report.files).filter(
        ([path]) => wanted === undefined || asked.has(path),
      );
      const rows = scores({ files: Object.fromEntries(files) });
      return { rows, survivors: rows.flatMap((row) => row.survivors) };
    };
    let found = await tried(false, values.fresh);
    // The adapters' suite takes a minute per unnoticed mutant.
    if (target.hosts !== undefined && found.survivors.length > 0) found = await tried(true, false);
    const { rows, survivors } = found;
    const noticed = sum(rows, (row) => row.noticed);
    const all = noticed + survivors.length;
    ran += all;
    for (const { file, at, line, from, to, isCovered } of survivors)
      console.log(
        `${file}:${at}  ${line}\n    ${from} → ${to}${isCovered ? '' : '  (no test runs it)'}`,
      );
    console.log(table(rows));
    const percent = (noticed / (all || 1)) * 100;
    console.log(
      `${target.name}: ${all} mutants, ${noticed} noticed (${percent.toFixed(1)} %), ` +
        `${survivors.length} survived\n`,
    );
    // One survivor is always allowed: of a few lines, it is more than a tenth.
    if (percent < LEAST && survivors.length > 1)
      faults.push(`${target.name}: ${percent.toFixed(1)} %, least ${LEAST}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
for (const fault of faults) console.log(fault);
console.log(`${ran} mutants, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
