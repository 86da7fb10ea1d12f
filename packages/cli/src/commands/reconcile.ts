import { setTimeout as pause } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { withinBounds } from '@paylink/core/internal';
import type { ReconcileReport } from '@paylink/payments';
import { runs, type CommonFlags, type Run } from '../action.js';
import { findDatabase, messageOf } from '../database.js';
import { cannotBeWritten, EXIT, INTERRUPTED, usageFailure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import { duration, wholeNumber } from '../input.js';
import type { Output } from '../output.js';
import { checkFolder, readJsonFile, writeJsonFile } from '../reconcile/files.js';
import { runAlone } from '../reconcile/lock.js';
import { loadShop, type ShopModule } from '../reconcile/module.js';
import { runOnce, type Result, type RunError, type RunReport } from '../reconcile/run.js';
import { text } from '../safe-text.js';
import {
  API_ENVIRONMENT,
  API_KEY_VARIABLE,
  DATABASE_VARIABLE,
  SECRET_VARIABLES,
} from '../settings.js';
import { untilStopped } from '../until-stopped.js';

interface Flags extends CommonFlags {
  readonly module?: string;
  readonly every?: number;
  readonly state?: string;
  readonly health?: string;
  readonly tenant?: string;
  readonly deadline: number;
  readonly concurrency: number;
  readonly lock: boolean;
}

const EXITS: Readonly<Record<Result, number>> = {
  done: EXIT.ok,
  skipped: EXIT.ok,
  incomplete: EXIT.failed,
  failed: EXIT.failed,
  key_refused: EXIT.keyRefused,
  stopped: INTERRUPTED,
};

/** Milliseconds for the module's `close`. */
const CLOSING = 5_000;

/** If the service is down, every order fails, and nobody reads ten thousand lines. */
const MOST_ERROR_LINES = 20;

/**
 * `paylink reconcile`: credits paid orders that neither the webhook nor the return page credited.
 */
export function reconcileCommand(): Command {
  const command = new Command('reconcile')
    .summary('credit paid orders whose notification never came, once or on a schedule')
    .description(
      'Asks the service about each of your unpaid orders, and credits the paid ones. Your ' +
        'module lists the unpaid orders (unpaidReferences) and credits an order (payments). ' +
        'Prints one line per run and one per error.',
    )
    .option(
      '--module <file>',
      'your module: it exports payments and unpaidReferences(), and may export close()',
    )
    .option('--every <time>', 'run again after this time, such as 5m, until SIGTERM', duration)
    .option('--state <file>', 'keeps the cursor, so that the next run continues a stopped run')
    .option('--health <file>', 'keeps the time and the result of the last run, as JSON')
    .option('--tenant <tenant>', "the orders' merchant")
    .addOption(
      new Option('--deadline <time>', 'start no order after this time')
        .argParser(duration)
        .default(600_000, '10m'),
    )
    .option('--concurrency <n>', 'concurrent orders', wholeNumber(1, 100), 4)
    .option('--no-lock', `run without the lock in the database of ${DATABASE_VARIABLE}`);
  runs<Flags>(command, run);
  return teach(command, {
    examples: [
      ['paylink reconcile --module ./payments.js', 'one run, for cron'],
      [
        'paylink reconcile --module ./payments.js --every 5m --state cursor.json --health ' +
          'health.json',
        'its own schedule, for systemd or a container',
      ],
      ['paylink reconcile --module ./payments.js --json', 'one line of JSON per run'],
    ],
    environment: [
      ...API_ENVIRONMENT,
      [DATABASE_VARIABLE, 'the PostgreSQL of the lock, and of your module if it reads it'],
    ],
    exitCodes: [
      [0, 'every order was read, another run is at work, or SIGTERM ended --every'],
      [1, 'an order could not be read or credited, or the run failed'],
      USAGE_EXIT,
      [EXIT.keyRefused, 'the service refused the API key, and the run ended at once'],
      [INTERRUPTED, 'ended by Ctrl-C or SIGTERM in the middle of a run; not with --every'],
    ],
  });
}

async function run({ flags, output }: Run<Flags>): Promise<number> {
  const stop = new AbortController();
  void untilStopped().then(() => stop.abort());
  let shop: ShopModule | undefined;
  try {
    if (flags.module === undefined)
      throw usageFailure('no --module', 'for example --module ./payments.js');
    if (flags.tenant === '') throw usageFailure('--tenant must not be empty');
    if (flags.state !== undefined) checkFolder(flags.state, '--state');
    if (flags.health !== undefined) checkFolder(flags.health, '--health');
    for (const name of [API_KEY_VARIABLE, ...SECRET_VARIABLES]) output.hide(process.env[name]);
    const alone = chooseLock(flags, output, stop.signal);
    const loading = loadShop(flags.module);
    shop = await withinBounds(loading, { signals: [stop.signal] }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
      return undefined;
    });
    if (shop === undefined) return flags.every === undefined ? INTERRUPTED : EXIT.ok;
    return await runAgain(shop, alone, flags, output, stop.signal);
  } finally {
    await close(shop, output);
    endSoon();
  }
}

async function close(shop: ShopModule | undefined, output: Output): Promise<void> {
  const closing = async (): Promise<unknown> => shop?.close?.();
  await withinBounds(closing(), { milliseconds: CLOSING }).catch((error: unknown) => {
    output.error(`close() of the module failed: ${messageOf(error)}`);
  });
}

type Alone = (work: () => Promise<ReconcileReport>) => Promise<ReconcileReport | undefined>;

function chooseLock({ lock, tenant = '' }: Flags, output: Output, signal: AbortSignal): Alone {
  const address = findDatabase(undefined, output);
  if (lock && address !== undefined && /^postgres(ql)?:/.test(address.url))
    return (work) => runAlone(address, `paylink reconcile ${tenant}`, signal, work);
  if (lock) {
    output.note(
      `${DATABASE_VARIABLE} does not name a PostgreSQL database, so two runs can overlap. ` +
        'Each order is still credited only once. Silence this line with --no-lock',
    );
  }
  return (work) => work();
}

async function runAgain(
  shop: ShopModule,
  alone: Alone,
  flags: Flags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { every, tenant, deadline, concurrency } = flags;
  const cursor = new Cursor(flags.state, output);
  for (;;) {
    const started = performance.now();
    const log = new ErrorLog(output);
    const report = await runOnce({
      shop,
      tenant,
      deadline,
      concurrency,
      signal,
      alone,
      cursor: cursor.value,
      redact: (message) => output.redact(message),
      onError: (error) => log.add(error),
      onProgress: (progress) => {
        if (progress.cursor !== undefined) cursor.keep(progress.cursor);
        output.progress(`${progress.ended} orders read, ${progress.credited} credited`);
      },
    });
    log.end();
    cursor.keep(report.cursor);
    if (flags.health !== undefined) keepHealth(flags.health, report, output);
    show(report, output);
    if (report.result === 'key_refused') {
      output.error('the service refused the API key (401)', [
        `compare ${API_KEY_VARIABLE} with the service's key. This command asks nothing ` +
          'until you restart it',
      ]);
    }
    if (every === undefined || report.result === 'key_refused') return EXITS[report.result];
    const wait = Math.max(0, every - (performance.now() - started));
    await pause(wait, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return EXIT.ok;
  }
}

class Cursor {
  readonly #path: string | undefined;
  readonly #output: Output;
  value: string | undefined;

  constructor(path: string | undefined, output: Output) {
    this.#path = path;
    this.#output = output;
    if (path === undefined) return;
    try {
      const { cursor } = Object(readJsonFile(path)) as { readonly cursor?: unknown };
      if (typeof cursor === 'string' && /^\d{1,15}:/.test(cursor)) this.value = cursor;
    } catch {
      // A lost cursor costs a few extra requests. A run that does not start could cost an order.
      output.error(`--state: ${path} cannot be read, so this run starts without a cursor`);
    }
  }

  keep(cursor: string | undefined): void {
    this.value = cursor;
    if (this.#path === undefined) return;
    keepFile(this.#path, { cursor }, '--state', this.#output);
  }
}

function keepHealth(path: string, report: RunReport, output: Output): void {
  const { time, durationMs, result, counts } = report;
  keepFile(path, { time, durationMs, result, counts }, '--health', output);
}

/** Only warns on failure: a full disk must not keep orders from being credited. */
function keepFile(path: string, value: unknown, option: string, output: Output): void {
  try {
    writeJsonFile(path, value);
  } catch (error) {
    output.error(`${option}: ${cannotBeWritten(path, error)}`);
  }
}

class ErrorLog {
  readonly #output: Output;
  #count = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  add({ reference, code, message }: RunError): void {
    this.#count++;
    if (this.#output.isJson || this.#count > MOST_ERROR_LINES) return;
    const subject = reference === undefined ? text`the run failed` : text`${reference}`;
    this.#output.note(text`error: ${subject}: ${code}: ${message}`);
  }

  end(): void {
    const more = this.#count - MOST_ERROR_LINES;
    if (!this.#output.isJson && more > 0)
      this.#output.note(`error: ${more} more orders failed (--json lists them all)`);
  }
}

function show(report: RunReport, output: Output): void {
  const { time, durationMs, result, counts } = report;
  const { read, ...others } = counts;
  const parts = Object.entries(others)
    .filter(([name, count]) => count > 0 || name === 'credited')
    .map(([name, count]) => `${NAMES[name] ?? name} ${count}`);
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  const said =
    result === 'skipped'
      ? 'another run is at work'
      : `read ${read} orders in ${took}: ${parts.join(', ')}`;
  output.line(`${time} ${result}: ${said}`);
  output.record(report);
}

const NAMES: Readonly<Record<string, string>> = {
  notAsked: 'not asked',
  inProgress: 'in progress',
};

/** Exits although the merchant's pool or timers would keep the process alive. */
function endSoon(): void {
  setImmediate(() => {
    process.stdout.write('', () => process.stderr.write('', () => process.exit()));
  });
}
