/** `paylink reconcile` and `paylink verify`: one sweep over the orders, once or on a schedule. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Payments } from '@paylink/payments';
import {
  requirePayments,
  SHOP_OPTIONS,
  tenantsOf,
  withShop,
  type ShopFlags,
  type Tenant,
} from '../shop/with-shop.js';
import { createCommand, option, type Run } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import { duration, wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { JsonFile } from './json-file.js';
import { lockPathOf, runAlone } from './lock.js';
import { runOnce, type Result, type RunReport, type Sweep } from './run.js';
import { showReport } from './show.js';

interface Flags extends ShopFlags {
  readonly every?: number;
  readonly state?: string;
  readonly health?: string;
  readonly timeLimit: number;
  readonly concurrency: number;
  readonly lock: boolean;
}

const OPTIONS = [
  ...SHOP_OPTIONS,
  option('--every <time>', 'run again after this time, such as 5m, until SIGTERM', {
    parse: duration,
  }),
  option('--state <file>', 'keeps the cursor, so that the next run continues a stopped run'),
  option('--health <file>', 'keeps the result of the last run and the time of the last success'),
  option('--time-limit <time>', 'start no order after this time', {
    parse: duration,
    initial: [600_000, '10m'],
  }),
  option('--concurrency <n>', 'concurrent orders', { parse: wholeNumber(1, 100), initial: 4 }),
  option('--no-lock', 'run although another run of this module is at work'),
];

/** `paylink reconcile`: credits paid orders that no notification and no return page credited. */
export const reconcileCommand = (): Command =>
  createCommand<Flags>('reconcile', {
    summary: 'credit paid orders whose notification never came, once or on a schedule',
    description:
      'Asks the service about each unpaid order, and credits the paid ones. Your module exports ' +
      'payments, whose orders have unpaid(). An order without a payment at the service is no ' +
      'error: its customer never came that far. Prints one line per run.',
    options: OPTIONS,
    examples: [
      'paylink reconcile --module ./payments.js --dotenv .env',
      'paylink reconcile --module ./payments.js --every 5m --state cursor.json --health health.json',
    ],
    run: sweepWith({
      name: 'reconcile',
      run: ({ reconcile }, options) => reconcile(undefined, options),
      findings: [],
      printed: ['credited', 'noPayment'],
    }),
  });

/** `paylink verify`: compares paid orders with the service, and never writes. */
export const verifyCommand = (): Command =>
  createCommand<Flags>('verify', {
    summary: 'compare your paid orders with the service, and change nothing',
    description:
      'Asks the service about each paid order, and lists the orders that the service does not ' +
      'call paid, or only with another amount or currency. Your module exports payments, whose ' +
      'orders have paid(). Credits nothing and never writes.',
    options: OPTIONS,
    examples: ['paylink verify --module ./payments.js --dotenv .env'],
    run: sweepWith({
      name: 'verify',
      run: ({ verify }, options) => verify(undefined, options),
      findings: ['notPaid', 'differs', 'noPayment'],
      printed: ['notPaid', 'differs', 'noPayment'],
    }),
  });

function sweepWith(sweep: Sweep): (run: Run<Flags>) => Promise<number> {
  return async ({ flags, output }) => {
    const context = {
      sweep,
      flags,
      output,
      tenants: tenantsOf(flags),
      state: new JsonFile(flags.state, '--state', output),
      health: new JsonFile(flags.health, '--health', output),
    };
    const stopped = flags.every === undefined ? EXIT.interrupted : EXIT.ok;
    return withShop(
      flags,
      output,
      (shop, stop) => repeat(context, requirePayments(shop, flags, sweep.name), stop),
      stopped,
    );
  };
}

interface Context {
  readonly sweep: Sweep;
  readonly flags: Flags;
  readonly output: Output;
  readonly tenants: readonly Tenant[];
  readonly state: JsonFile;
  readonly health: JsonFile;
}

/** From the best to the worst. A run for several merchants counts as its worst. */
const EXITS: Readonly<Record<Result, number>> = {
  done: EXIT.ok,
  skipped: EXIT.skipped,
  found: EXIT.failed,
  incomplete: EXIT.failed,
  stopped: EXIT.interrupted,
  failed: EXIT.failed,
  key_refused: EXIT.keyRefused,
};

const worstOf = (results: readonly Result[]): Result =>
  (Object.keys(EXITS) as Result[]).findLast((result) => results.includes(result))!;

async function repeat(context: Context, payments: Payments, stop: AbortSignal): Promise<number> {
  const { flags, sweep, output } = context;
  for (;;) {
    const started = performance.now();
    const work = () => sweepAll(context, payments, stop);
    const lock = lockPathOf(sweep.name, flags.module);
    const results = flags.lock ? await runAlone(lock, work) : await work();
    if (results === undefined) {
      const time = new Date().toISOString();
      output.line(`${time} skipped: another run is at work`);
      output.record({ time, result: 'skipped' });
    }
    const areRefused = results?.every((result) => result === 'key_refused') === true;
    if (flags.every === undefined || areRefused) return EXITS[worstOf(results ?? ['skipped'])];
    const wait = Math.max(0, flags.every - (performance.now() - started));
    await pause(wait, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return EXIT.ok;
  }
}

/** Works for one merchant after the other. */
async function sweepAll(
  context: Context,
  payments: Payments,
  stop: AbortSignal,
): Promise<Result[]> {
  const { sweep, flags, output, state } = context;
  const { timeLimit, concurrency } = flags;
  const cursors = new Map(Object.entries(Object(state.read()['cursors']) as object));
  const keep = (tenant: string, cursor: string | undefined): void => {
    if (cursor === undefined) cursors.delete(tenant);
    else cursors.set(tenant, cursor);
    state.write({ cursors: Object.fromEntries(cursors) });
  };
  const reports: RunReport[] = [];
  for (const tenant of context.tenants) {
    const key = tenant ?? '';
    const cursor: unknown = cursors.get(key);
    const report = await runOnce(sweep, payments, {
      ...{ tenant, timeLimit, concurrency, signal: stop },
      cursor: typeof cursor === 'string' && /^\d{1,15}:/.test(cursor) ? cursor : undefined,
      onProgress: (progress) => {
        if (progress.cursor !== undefined) keep(key, progress.cursor);
        output.progress(`${progress.ended} orders read, ${progress.credited} credited`);
      },
    });
    keep(key, report.cursor);
    output.record(report);
    if (!output.isJson) showReport(report, sweep, flags, output);
    reports.push(report);
    if (stop.aborted) break;
  }
  return keepHealth(reports, context.health);
}

function keepHealth(reports: readonly RunReport[], file: JsonFile): Result[] {
  const results = reports.map(({ result }) => result);
  const result = worstOf(results);
  const { time } = reports.at(-1)!;
  const lastDone = result === 'done' ? time : (file.read()['lastDone'] ?? null);
  const runs = reports.map(({ tenant, result, durationMs, counts }) => ({
    tenant,
    result,
    durationMs,
    counts,
  }));
  file.write({ time, result, lastDone, runs });
  return results;
}
