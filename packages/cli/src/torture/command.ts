/** `paylink torture`: runs a credit's round trips in every sequence, and with every cut. */
import { setTimeout } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Finding, SchedulesReport } from '@paylink/testing/schedules/internal';
import { isLocalHost } from '../receiver/local-host.js';
import { exitSoon } from '../shop/with-shop.js';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { durationOption, parseUrl, wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';

interface Flags extends CommonFlags {
  readonly module?: string;
  readonly database: string;
  readonly databaseVariable: string;
  readonly tenant?: string;
  readonly callers: number;
  readonly timeLimit: number;
  readonly replay?: number;
  readonly start?: string;
  readonly to?: URL;
  readonly books?: string;
  readonly order?: string;
}

export const tortureCommand = (): Command =>
  createCommand<Flags>('torture', {
    summary: "run your credit's round trips in every sequence, and kill it at each step",
    description:
      'Delivers orders through your module, in separate processes. A proxy in front of your ' +
      'database (PostgreSQL, MySQL, MariaDB, plain HTTP), or a hook in a SQLite driver, holds ' +
      'each round trip and releases those of two deliveries in every sequence. Then it cuts the ' +
      'connection or kills the process before and after each round trip. Your module exports ' +
      'orders and createOrder. It can also export effects(reference), which counts other writes, ' +
      'and total(), which reads a number that each credit changes. Instead of a module, you can ' +
      'test a program in any language, which receives notifications. The command stores and ' +
      'credits orders, so use a test database.',
    options: [
      new Option('--module <file>', 'your module, which exports orders and createOrder'),
      new Option('--database <url>', 'the address of a test database').makeOptionMandatory(),
      new Option('--database-variable <name>', 'the variable that contains its address').default(
        'DATABASE_URL',
      ),
      new Option('--tenant <id>', "the orders' merchant, or null"),
      new Option('--callers <n>', 'the number of concurrent deliveries')
        .argParser(wholeNumber(2, 3))
        .default(2),
      durationOption('--time-limit <time>', 'do not start an attempt after this time', '1m'),
      new Option('--start <command>', 'the command that starts your program, instead of --module'),
      new Option('--to <url>', "the program's webhook on this machine").argParser(parseUrl),
      new Option(
        '--books <command>',
        'the command that prints {"paid":true,"effects":1} for the order $REFERENCE',
      ),
      new Option(
        '--order <command>',
        'the command that stores an unpaid order $REFERENCE for $AMOUNT $CURRENCY',
      ),
      new Option('--replay <n>', 'try only the finding with this number').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    ],
    examples: [
      'paylink torture --module ./payments.js --database postgres://localhost/shop_test',
      'paylink torture --module ./payments.js --database mysql://localhost/shop_test --replay 38',
      `paylink torture --start 'npm start' --to http://localhost:3000/webhooks/payments --database postgres://localhost/shop_test --books 'node books.js' --order 'node order.js'`,
    ],
    run: torture,
  });

async function torture({ flags, output }: Invocation<Flags>): Promise<number> {
  output.hide(flags.database, ...passwordsIn(flags.database));
  const stopped = untilStopped().then(() => undefined);
  try {
    const report = await Promise.race([explore(flags, output), stopped]);
    if (report === undefined) return EXIT.interrupted;
    output.document(report);
    show(report, flags, output);
    return report.findings.some(({ fault }) => fault !== '') ? EXIT.failed : EXIT.ok;
  } finally {
    // The processes of the merchant's module end with this one.
    exitSoon();
  }
}

/** Returns the passwords of an address as they stand there, and as a driver reads them. */
function passwordsIn(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  const inQuery = searchParams.get('password') ?? '';
  const passwords = [password, inQuery, encodeURIComponent(inQuery)];
  try {
    return [...passwords, decodeURIComponent(password)];
  } catch {
    return passwords;
  }
}

async function explore(flags: Flags, output: Output): Promise<SchedulesReport> {
  const { module, start, to, books, order, callers, tenant } = flags;
  const { database: databaseUrl, databaseVariable, timeLimit, replay } = flags;
  const common = {
    ...{ databaseUrl, databaseVariable, timeLimit, replay },
    onProgress: ({ orders, cuts }: { readonly orders: number; readonly cuts: number }) =>
      output.progress(`${orders} sequences, ${cuts} cuts tried`),
  };
  if (tenant === '') throw usageFailure('--tenant must not be empty');
  const { tryProgram, trySchedules } = await import('@paylink/testing/schedules/internal');
  if (module !== undefined && start === undefined)
    return trySchedules({ ...common, module, callers, tenant: tenant === 'null' ? null : tenant });
  if (module !== undefined || start === undefined || to === undefined || books === undefined)
    throw usageFailure('pass --module <file>, or --start, --to and --books for a whole program');
  if (tenant !== undefined) throw usageFailure('--tenant belongs to --module');
  if (!isLocalHost(to.hostname)) throw usageFailure('--to must be an address of this machine');
  const { startEmulator } = await import('@paylink/emulator');
  // A slow service lets notifications overlap.
  const statusAnswer = (): Promise<undefined> => setTimeout(100);
  const emulator = await startEmulator({ assumed: { statusAnswer } });
  try {
    const secret = process.env[SECRET_VARIABLE] ?? emulator.webhookSecret;
    output.hide(secret, emulator.apiKey);
    return await tryProgram({
      ...{ ...common, start, to: to.href, books, order, secret },
      env: {
        [BASE_URL_VARIABLE]: emulator.baseUrl,
        [API_KEY_VARIABLE]: emulator.apiKey,
        [SECRET_VARIABLE]: secret,
      },
      async pay({ reference, amount }) {
        await emulator.createLink({ reference, amount });
        await emulator.pay(reference);
      },
    });
  } finally {
    await emulator.close();
  }
}

function show(report: SchedulesReport, flags: Flags, output: Output): void {
  const { callers, replay } = flags;
  const { orders, cuts, findings, notTested } = report;
  for (const finding of findings) showFinding(finding, replay === undefined, output);
  if (replay === undefined) {
    const races =
      flags.module === undefined
        ? 'two simultaneous notifications'
        : `${orders.tried} sequences of ${callers} deliveries`;
    output.line(
      text`${races}, and ${cuts.tried} cuts: ${findings.length === 0 ? 'no fault' : 'see the faults above'}`,
    );
  }
  for (const each of notTested) output.line(output.paint.yellow(`not tested: ${each}`));
}

function showFinding({ number, ...found }: Finding, isNew: boolean, output: Output): void {
  const { fault, change, story } = found;
  output.line(fault === '' ? output.paint.green('no fault') : output.paint.red(fault));
  for (const row of story) output.line(`  ${row}`);
  if (change !== '') output.line(change);
  if (isNew) output.line(output.paint.dim(`Replay it: --replay ${number}`));
  output.line();
}
