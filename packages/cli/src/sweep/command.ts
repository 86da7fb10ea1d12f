/** What `paylink reconcile` and `paylink verify` share: schedule, lock, files, printed lines. */
import { setTimeout as pause } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Run } from '../terminal/action.js';
import { EXIT, INTERRUPTED } from '../terminal/failure.js';
import { USAGE_EXIT } from '../terminal/help.js';
import { duration, wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { NPX, quoteForShell } from '../terminal/shell.js';
import { API_KEY_VARIABLE } from '../terminal/dotenv.js';
import {
  addShopOptions,
  requireModule,
  tenantsOf,
  withShop,
  type Shop,
  type ShopFlags,
} from '../shop/with-shop.js';
import { JsonFile } from './files.js';
import { lockPathOf, runAlone } from './lock.js';
import { runOnce, type Result, type RunReport, type Sweep } from './run.js';

export interface SweepFlags extends ShopFlags {
  readonly every?: number;
  readonly state?: string;
  readonly health?: string;
  readonly timeLimit: number;
  readonly concurrency: number;
  readonly lock: boolean;
}

/** From the best to the worst. A run for several merchants counts as its worst. */
const EXITS: Readonly<Record<Result, number>> = {
  done: EXIT.ok,
  skipped: EXIT.skipped,
  found: EXIT.failed,
  incomplete: EXIT.failed,
  stopped: INTERRUPTED,
  failed: EXIT.failed,
  key_refused: EXIT.keyRefused,
};
const RESULTS = Object.keys(EXITS) as Result[];

export const SWEEP_EXITS = [
  USAGE_EXIT,
  [EXIT.keyRefused, 'the service refused the API key, and the run ended at once'],
  [EXIT.skipped, 'skipped, because another run of this module is at work'],
  [INTERRUPTED, 'ended by Ctrl-C or SIGTERM in the middle of a run (0 with --every)'],
] as const;

export function addSweepOptions(command: Command): Command {
  return addShopOptions(command)
    .option('--every <time>', 'run again after this time, such as 5m, until SIGTERM', duration)
    .option('--state <file>', 'keeps the cursor, so that the next run continues a stopped run')
    .option('--health <file>', 'keeps the result of the last run and the time of the last success')
    .addOption(
      new Option('--time-limit <time>', 'start no order after this time')
        .argParser(duration)
        .default(600_000, '10m'),
    )
    .option('--concurrency <n>', 'concurrent orders', wholeNumber(1, 100), 4)
    .option('--no-lock', 'run although another run of this module is at work');
}

export function sweepWith(sweep: Sweep): (run: Run<SweepFlags>) => Promise<number> {
  return async ({ flags, output }) => {
    const tenants = tenantsOf(flags);
    const module = requireModule(flags);
    const files = {
      state: new JsonFile(flags.state, '--state', output),
      health: new JsonFile(flags.health, '--health', output),
    };
    const isScheduled = flags.every !== undefined;
    const stopped = isScheduled ? EXIT.ok : INTERRUPTED;
    const bench = { sweep, flags, module, tenants, files, output };
    return withShop(flags, output, (shop, stop) => repeat(bench, shop, stop), stopped);
  };
}

interface Bench {
  readonly sweep: Sweep;
  readonly flags: SweepFlags;
  readonly module: string;
  readonly tenants: readonly (string | undefined)[];
  readonly files: { readonly state: JsonFile; readonly health: JsonFile };
  readonly output: Output;
}

async function repeat(bench: Bench, shop: Shop, stop: AbortSignal): Promise<number> {
  const { flags, sweep, module, output } = bench;
  for (;;) {
    const started = performance.now();
    const work = () => sweepAll(bench, shop, stop);
    const reports = flags.lock
      ? await runAlone(lockPathOf(sweep.name, module), work)
      : await work();
    if (reports === undefined) showSkipped(output);
    const results = reports?.map(({ result }) => result) ?? ['skipped'];
    const worst = RESULTS.findLast((result) => results.includes(result))!;
    const areRefused = results.every((result) => result === 'key_refused');
    if (flags.every === undefined || areRefused) return EXITS[worst];
    const wait = Math.max(0, flags.every - (performance.now() - started));
    await pause(wait, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return EXIT.ok;
  }
}

/** Works for one merchant after the other. */
async function sweepAll(bench: Bench, shop: Shop, stop: AbortSignal): Promise<RunReport[]> {
  const { sweep, flags, tenants, files, output } = bench;
  const cursors = new Map(Object.entries(Object(files.state.read()['cursors']) as object));
  const keep = (tenant: string | undefined, cursor: string | undefined): void => {
    if (cursor === undefined) cursors.delete(tenant ?? '');
    else cursors.set(tenant ?? '', cursor);
    files.state.write({ cursors: Object.fromEntries(cursors) });
  };
  const reports: RunReport[] = [];
  for (const tenant of tenants) {
    const cursor: unknown = cursors.get(tenant ?? '');
    const report = await runOnce({
      sweep,
      payments: shop.payments,
      tenant,
      cursor: typeof cursor === 'string' && /^\d{1,15}:/.test(cursor) ? cursor : undefined,
      timeLimit: flags.timeLimit,
      concurrency: flags.concurrency,
      stop,
      redact: (message) => output.redact(message),
      onProgress: (progress) => {
        if (progress.cursor !== undefined) keep(tenant, progress.cursor);
        output.progress(`${progress.ended} orders read, ${progress.credited} credited`);
      },
    });
    keep(tenant, report.cursor);
    show(report, bench);
    reports.push(report);
    if (stop.aborted) break;
  }
  keepHealth(reports, files.health);
  return reports;
}

function keepHealth(reports: readonly RunReport[], file: JsonFile): void {
  const results = reports.map(({ result }) => result);
  const { time } = reports.at(-1)!;
  const isDone = results.every((result) => result === 'done');
  file.write({
    time,
    result: RESULTS.findLast((result) => results.includes(result)),
    lastDone: isDone ? time : (file.read()['lastDone'] ?? null),
    runs: reports.map(({ tenant, result, durationMs, counts }) => ({
      tenant,
      result,
      durationMs,
      counts,
    })),
  });
}

function showSkipped(output: Output): void {
  const time = new Date().toISOString();
  output.line(`${time} skipped: another run is at work`);
  output.record({ time, result: 'skipped' });
}

/** References in one line of a report. */
const SHOWN = 10;

function show(report: RunReport, { sweep, module, output }: Bench): void {
  const { time, tenant, durationMs, result, counts, lists, errors } = report;
  output.record(report);
  if (output.isJson) return;
  const { read, ...others } = counts;
  const parts = Object.entries(others)
    .filter(([name, count]) => count > 0 || name === 'credited' || name === 'confirmed')
    .map(([name, count]) => `${wordsOf(name)} ${count}`);
  const of = tenant === null ? '' : ` of ${tenant}`;
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  output.line(
    text`${time} ${result}${of}: read ${read ?? 0} orders in ${took}: ${parts.join(', ')}`,
  );
  for (const [name, references] of Object.entries(lists)) {
    if (name === 'credited' || references.length === 0) continue;
    const isFinding = sweep.findings.includes(name);
    output.line(text`  ${SENTENCES[name] ?? wordsOf(name)}: ${listed(references, counts[name]!)}`);
    if (isFinding) output.line(text`  ${nextStep(references[0]!, tenant, module)}`);
  }
  for (const { reference, code, message } of errors)
    if (reference === undefined) output.error(`the run failed: ${code}: ${message}`);
  showErrors(report, module, output);
  if (result === 'key_refused') {
    output.error('the service refused the API key (401)', [
      `compare ${API_KEY_VARIABLE} with the key in the service's portal`,
    ]);
  }
}

/** One line per outcome: each order's own line is in the log of `payments`. */
function showErrors({ errors, tenant }: RunReport, module: string, output: Output): void {
  const byCode = new Map<string, string[]>();
  for (const { reference, code } of errors) {
    if (reference === undefined) continue;
    byCode.set(code, [...(byCode.get(code) ?? []), reference]);
  }
  for (const [code, references] of byCode) {
    output.error(`${code}: ${listed(references, references.length)}`, [
      nextStep(references[0]!, tenant, module),
    ]);
  }
}

function nextStep(reference: string, tenant: string | null, module: string): string {
  const of = tenant === null ? '' : ` --tenant ${quoteForShell(tenant)}`;
  return `${NPX} explain ${quoteForShell(reference)} --module ${quoteForShell(module)}${of}`;
}

function listed(references: readonly string[], count: number): string {
  const shown = references.slice(0, SHOWN).join(', ');
  return count > SHOWN ? `${shown} and ${count - SHOWN} more` : shown;
}

const SENTENCES: Readonly<Record<string, string>> = {
  noPayment: 'the service has no payment of',
  notPaid: 'paid in your database, and not at the service',
  differs: 'another amount or currency at the service',
};

/** Splits `notAsked` into `not asked`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
