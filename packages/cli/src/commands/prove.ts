import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { runs, type CommonFlags, type Run } from '../action.js';
import { findDatabase } from '../database.js';
import { EXIT, INTERRUPTED, usageFailure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import { requireWritable, seconds, wholeNumber } from '../input.js';
import type { Output } from '../output.js';
import { showProgress } from '../progress.js';
import { openInputs, readInput, type Inputs } from '../prove/inputs.js';
import type { Ask } from '../prove/judge.js';
import { PostgresBooks } from '../prove/postgres.js';
import { hasNoOrders, prove, type Step } from '../prove/prove.js';
import { showProof, writeCsv, writeJson } from '../prove/report.js';
import { StateFolder } from '../prove/state.js';
import { text } from '../safe-text.js';
import { addServiceOptions, connect, type ServiceFlags } from '../service.js';
import { API_ENVIRONMENT, DATABASE_VARIABLE } from '../settings.js';

interface Flags extends CommonFlags, ServiceFlags {
  readonly orders?: string;
  readonly credits?: string;
  /** `false` means --no-marks. */
  readonly marks?: string | false;
  readonly marksTable?: string;
  readonly databaseUrl?: string;
  readonly ask: Ask;
  readonly tenant?: string;
  readonly partial?: boolean;
  readonly currency: string;
  readonly concurrency: number;
  readonly rate?: number;
  readonly grace: number;
  readonly state?: string;
  readonly csv?: string | true;
}

const DEFAULT_TABLE = 'paylink_marks';

/** `paylink prove`: compares a merchant's books with the service and the marks. */
export function proveCommand(): Command {
  const command = new Command('prove')
    .summary('compare your books with the service: lost, doubled, or credited without payment')
    .description(
      'Compares your orders and your credits with the payments of the service and with ' +
        'the marks of your store, and gives each order one verdict: right, lost, doubled, ' +
        'credited without payment, amount differs, ' +
        'unknown, or not asked. Reads only, and changes nothing. An order is right only ' +
        'if the service was asked about it. Amounts are whole numbers of ' +
        'the smallest unit.',
    )
    .option(
      '--orders <query|file>',
      'every order: reference and amount, or amount_min and amount_max, optionally currency',
    )
    .option(
      '--credits <query|file>',
      'one row per credit: reference, optionally amount, and by_hand for a credit without ' +
        'a payment',
    )
    .option(
      '--database-url <url>',
      'the PostgreSQL of the queries. The environment keeps its password out of the shell history',
    )
    .option(
      '--marks-table <table>',
      `the table of postgresStore (default: ${DEFAULT_TABLE}, if an input is a query)`,
    )
    .option('--marks <file>', 'the marks as CSV: key, in hexadecimal, or reference')
    .option('--no-marks', 'ignore the marks')
    .addOption(
      new Option(
        '--ask <which>',
        'the orders to ask the service about: all, only those that books and marks do not ' +
          'settle, or none',
      )
        .choices(['all', 'undecided', 'none'])
        .default('undecided'),
    )
    .option('--tenant <tenant>', "the orders' merchant, as in your webhook's option `tenant`")
    .option(
      '--partial',
      'the orders are incomplete, so credits and marks without an order are not findings',
    )
    .option('--currency <code>', 'the currency of orders without one', 'XOF')
    .option('--concurrency <n>', 'concurrent requests', wholeNumber(1, 100), 4)
    .option(
      '--rate <n>',
      "the most requests per second (default: the service's limit)",
      wholeNumber(1, 10_000),
    )
    .addOption(
      new Option(
        '--grace <seconds>',
        'time from a payment to its credit, before the credits are read again',
      )
        .argParser(seconds)
        .default(60_000, '60'),
    )
    .option(
      '--state <folder>',
      'keeps the progress, so that the same command continues after a stop',
    )
    .option('--csv [file]', 'every finding as CSV, to a file or to stdout');
  addServiceOptions(command);
  runs<Flags>(command, run);
  return teach(command, {
    examples: [
      [
        `paylink prove --orders 'SELECT reference, amount FROM orders' --credits 'SELECT ` +
          `reference, amount FROM credits' --dotenv .env`,
        'books in PostgreSQL, beside the marks, at DATABASE_URL',
      ],
      [
        'paylink prove --orders orders.csv --credits credits.csv --ask all --csv findings.csv',
        'from exports, and asks about every order',
      ],
      [
        'paylink prove --orders orders.csv --credits credits.csv --ask all --rate 20 ' +
          '--state .paylink/prove',
        'a long run: after Ctrl-C, the same line continues',
      ],
      [
        'zcat orders.csv.gz | paylink prove --orders - --credits credits.csv --marks ' +
          'marks.csv --ask none',
        'without asking the service',
      ],
    ],
    environment: [...API_ENVIRONMENT, [DATABASE_VARIABLE, 'the PostgreSQL of the queries']],
    exitCodes: [
      [0, 'no finding'],
      [1, 'a finding, or an incomplete run'],
      USAGE_EXIT,
      [EXIT.nothing, 'the books hold no orders, so the run proves nothing'],
      [INTERRUPTED, 'ended by Ctrl-C, with the findings so far printed'],
    ],
  });
}

async function run({ flags, output }: Run<Flags>): Promise<number> {
  if (flags.json === true && flags.csv === true)
    throw usageFailure('stdout takes one format: name a file for --csv');
  const isForPeople = flags.json !== true && flags.csv !== true;
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  if (typeof flags.csv === 'string') await requireWritable(flags.csv);
  const inputs = await readInputs(flags, output);
  const reader = flags.ask === 'none' ? undefined : await connect(flags, output);
  const state = await StateFolder.open(flags.state);
  let goesOn = true;
  try {
    const { credits, database } = inputs;
    const proof = await prove({
      source: openInputs({ ...inputs, folder: state.path }),
      state,
      settings: settingsOf(flags, inputs),
      ask: flags.ask,
      reader,
      tenant: flags.tenant,
      hasMarks: inputs.marks !== undefined,
      isPartial: flags.partial === true,
      currency: flags.currency,
      concurrency: flags.concurrency,
      rate: flags.rate,
      readCredits:
        'query' in credits
          ? (references) => database!.creditsOf(credits.query, references)
          : undefined,
      grace: flags.grace,
      signal: stop.signal,
      onProgress: tellProgress(output),
    });
    if (isForPeople) await showProof(proof, () => state.readFinal(), output);
    await writeJson(proof, () => state.readFinal(), output);
    if (flags.csv !== undefined) await writeCsv(flags.csv, state.readFinal(), output);
    // After the report: if the report cannot be written, the same command line writes it again.
    goesOn = !proof.complete;
    if (goesOn && flags.state !== undefined)
      output.note(text`the same command line continues this run`);
    if (proof.stopped === 'interrupted') return INTERRUPTED;
    if (hasNoOrders(proof)) return EXIT.nothing;
    return proof.complete && proof.total === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await inputs.database?.close();
    await state.close(goesOn);
  }
}

type Located = Omit<Inputs, 'folder'>;

async function readInputs(flags: Flags, output: Output): Promise<Located> {
  const orders = readInput(flags.orders, '--orders');
  const credits = readInput(flags.credits, '--credits');
  const { marks, marksTable, tenant } = flags;
  if (marksTable !== undefined && marks !== undefined)
    throw usageFailure('--marks-table cannot be given with --marks or --no-marks');
  if (tenant === '') throw usageFailure('--tenant must not be empty');
  const needsDatabase = 'query' in orders || 'query' in credits || marksTable !== undefined;
  if (!needsDatabase) {
    return {
      orders,
      credits,
      marks: typeof marks === 'string' ? { path: marks } : undefined,
      tenant,
      database: undefined,
    };
  }
  const address = findDatabase(flags.databaseUrl, output);
  if (address === undefined) {
    throw usageFailure(
      'a query needs a PostgreSQL database',
      `set ${DATABASE_VARIABLE}, or give --dotenv or --database-url`,
    );
  }
  const database = new PostgresBooks(address);
  if (typeof marks === 'string')
    return { orders, credits, marks: { path: marks }, tenant, database };
  if (marks === false) return { orders, credits, marks: undefined, tenant, database };
  const table = marksTable ?? DEFAULT_TABLE;
  const found = await database.hasTable(table);
  if (!found && marksTable !== undefined)
    throw usageFailure(`--marks-table: the database has no table ${table}`);
  if (!found) output.note(`the database has no table ${DEFAULT_TABLE}, so no marks are read`);
  return { orders, credits, marks: found ? { table } : undefined, tenant, database };
}

/** Identifies a run. Leaves the key and the password out. */
function settingsOf(
  { ask, partial, currency, baseUrl }: Flags,
  { orders, credits, marks, tenant, database }: Located,
): unknown {
  const named = (input: object | undefined): unknown =>
    input !== undefined && 'path' in input && input.path !== '-'
      ? { path: resolve(input.path as string) }
      : (input ?? null);
  return [
    ask,
    partial === true,
    currency,
    baseUrl ?? process.env['PAYLINK_BASE_URL'] ?? null,
    ...[orders, credits, marks].map(named),
    tenant,
    ...(database === undefined ? [] : [database.address]),
  ];
}

function tellProgress(output: Output): (step: Step) => void {
  const show = showProgress(output);
  return (step) => {
    if (step.doing === 'resuming') {
      output.note(
        text`continuing: the books were read at ${step.readAt}, and ${step.asked} orders asked`,
      );
      return;
    }
    const line =
      step.doing === 'reading'
        ? `${step.rows} rows read, ${step.references} references checked`
        : step.doing === 'asking'
          ? `${step.asked} of ${step.questions} asked`
          : step.doing === 'waiting'
            ? `the service asks to wait for ${Math.ceil(step.milliseconds / 1_000)} s`
            : 'reading uncredited orders again';
    show(
      () => line,
      () => `prove: ${line}`,
    );
  };
}
