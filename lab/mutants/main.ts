/**
 * Puts faults into the sources, one at a time, and lists the faults that no test notices (Stryker).
 * Exits with 1 if a survivor has no entry in survivors.json, if an entry has no survivor, or if a
 * package is under its least percentage.
 *
 *     pnpm lab mutants [--package NAME]… [--file PATH[:FIRST-LAST]]… [--changed [--since COMMIT]]
 *       [--concurrency N] [--fresh]
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../options.js';
import { changedLines, mergeBase } from './changed.js';
import { copyOfCheckout } from './copy.js';
import { runStryker } from './run.js';
import { idleEntries, lostEntries, scores, type Justifications, type Score } from './survivors.js';
import { TARGETS, type Target } from './targets.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string | undefined =>
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined;

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
  const lines = rows.map(({ file, noticed, justified, survivors }) => {
    const all = noticed + justified + survivors.length;
    return (
      `${file.padEnd(48)} ` +
      [all, noticed, justified, survivors.length]
        .map((count) => String(count).padStart(9))
        .join(' ')
    );
  });
  return [`${''.padEnd(48)}   mutants   noticed justified  survived`, ...lines].join('\n');
}

const justifications = JSON.parse(read('lab/mutants/survivors.json')!) as Justifications;
const faults = lostEntries(justifications, read).map(
  (entry) => `an entry of survivors.json whose line is gone: ${entry}`,
);

// GitHub sends zeros for the commit before the first push.
const since = /^0*$/.test(values.since ?? '') ? mergeBase(ROOT) : values.since!;
const lines = values.changed ? changedLines(ROOT, since) : undefined;
const wanted = lines ?? (values.file.length > 0 ? values.file : undefined);
// With only a few lines, an entry without a survivor proves nothing.
const isPartial = wanted?.some((path) => /:[\d-]+$/.test(path)) ?? false;
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
      const ofAsked = { files: Object.fromEntries(files) };
      const rows = scores(ofAsked, justifications);
      return { ofAsked, rows, survivors: rows.flatMap((row) => row.survivors) };
    };
    let found = await tried(false, values.fresh);
    // The adapters' suite takes a minute per unnoticed mutant.
    if (target.hosts !== undefined && found.survivors.length > 0) found = await tried(true, false);
    const { ofAsked, rows, survivors } = found;
    const noticed = sum(rows, (row) => row.noticed);
    const justified = sum(rows, (row) => row.justified);
    const all = noticed + justified + survivors.length;
    ran += all;
    for (const { file, at, line, from, to, isCovered } of survivors)
      console.log(
        `${file}:${at}  ${line}\n    ${from} → ${to}${isCovered ? '' : '  (no test runs it)'}`,
      );
    console.log(table(rows));
    const percent = (noticed / (all || 1)) * 100;
    console.log(
      `${target.name}: ${all} mutants, ${noticed} noticed (${percent.toFixed(1)} %), ` +
        `${justified} justified, ${survivors.length} survived\n`,
    );
    if (target.least === undefined && survivors.length > 0)
      faults.push(`${target.name}: ${survivors.length} survived`);
    // One survivor is always allowed: of a few lines, it is more than a tenth.
    if (target.least !== undefined && percent < target.least && survivors.length > 1)
      faults.push(`${target.name}: ${percent.toFixed(1)} %, least ${target.least}`);
    if (!isPartial)
      faults.push(
        ...idleEntries(ofAsked, justifications).map(
          (entry) => `an entry without a survivor: ${entry}`,
        ),
      );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
for (const fault of faults) console.log(fault);
console.log(`${ran} mutants, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
