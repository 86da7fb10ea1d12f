import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { auditReceiver } from '@paylink/testing';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { readCredits } from './credits.js';
import { toJUnit, toSarif } from './formats.js';
import { requireAllowedHost } from '../receiver/local-host.js';
import { showReport } from './show-report.js';
import {
  cannotBeWritten,
  EXIT,
  Failure,
  failure,
  INTERRUPTED,
  usageFailure,
} from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import {
  collect,
  readHeaders,
  requireTarget,
  requireWritable,
  seconds,
  secretsOf,
  showUrl,
  wholeNumber,
} from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { showProgress } from '../terminal/progress.js';
import { text } from '../terminal/safe-text.js';
import {
  addSecretOptions,
  requireSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';
import { VERSION } from '../terminal/version.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly to?: string;
  readonly reference?: readonly string[];
  readonly credits?: string;
  readonly settle?: number;
  readonly header?: readonly string[];
  readonly bodyLimit?: number;
  readonly timeout?: number;
  readonly firstAnswer?: number;
  readonly concurrency?: number;
  readonly allowHost?: readonly string[];
  readonly verbose?: boolean;
  readonly junit?: string | true;
  readonly sarif?: string | true;
}

/** `paylink audit`: the attack kit against a running server. */
export function auditCommand(): Command {
  const command = new Command('audit')
    .summary('attack your running server and report its faults')
    .description(
      'Sends forged, replayed, broken and genuine notifications to a running server in ' +
        'any language, and names its faults with ' +
        'evidence and fixes. Audit only your own servers, and not in production: a few ' +
        'hundred of the notifications are ' +
        'genuine, so the server credits their order and others named after it.',
    )
    .option('--to <url>', 'the address of the webhook')
    .option(
      '--reference <reference>',
      'the order in the genuine notifications, which the server may credit (default: ' +
        'paylink-audit). Can be repeated: a server that looks up its orders needs five for ' +
        'a complete audit',
      collect,
    )
    .option(
      '--credits <url|command>',
      "returns an order's number of credits, as a response body or on standard output; " +
        '{reference} is replaced',
    )
    .option(
      '--settle <seconds>',
      "time from an answer to its credit, longer than the server's queue takes (default: 0.6)",
      seconds,
    )
    .option(
      '--header <header>',
      'add a header, "Name: value", for a tunnel or a gateway (can be repeated)',
      collect,
    )
    .option(
      '--body-limit <bytes>',
      "the server's body limit, to test it to the byte",
      wholeNumber(1_024, 100_000_000),
    )
    .option('--timeout <seconds>', 'time for the answer to a slow body (default: 15)', seconds)
    .option(
      '--first-answer <seconds>',
      'time for the answer to the first notification (default: 1.5)',
      seconds,
    )
    .option('--concurrency <n>', 'concurrent attacks (default: 4)', wholeNumber(1, 32))
    .option('--allow-host <host>', 'allow the audit of this remote host (can be repeated)', collect)
    .option('--verbose', 'list every attack and every finding, not only the causes')
    .option('--junit [file]', 'a JUnit report, to a file or to stdout')
    .option('--sarif [file]', 'a SARIF report, to a file or to stdout');
  addSecretOptions(command);
  runs<Flags>(command, audit);
  return teach(command, {
    examples: [
      [
        'paylink audit --to http://localhost:3000/webhooks/payments',
        'every attack, with the secret in the environment',
      ],
      [
        'paylink audit --to http://localhost:3000/webhooks/payments --credits ' +
          "'http://localhost:3000/credits/{reference}'",
        "also finds double and lost credits, in the merchant's own books",
      ],
      [
        'paylink audit --to http://localhost:3000/webhooks/payments --dotenv .env --json ' +
          '> audit.json',
        'for a pipeline, which fails on a finding',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [
      [0, 'no finding'],
      [1, 'a finding, or an incomplete audit'],
      USAGE_EXIT,
      [INTERRUPTED, 'ended by Ctrl-C, with the findings so far printed'],
    ],
  });
}

async function audit({ flags, output }: Run<Flags>): Promise<number> {
  const url = requireTarget(flags.to);
  requireAllowedHost(url, flags.allowHost, 'if you own that server and it is not in production');
  const toStdout = [flags.json, flags.junit, flags.sarif].filter((format) => format === true);
  if (toStdout.length > 1)
    throw usageFailure('stdout takes one format: name a file for --junit and --sarif');
  const requestHeaders = readHeaders(flags.header);
  const credits = flags.credits === undefined ? undefined : readCredits(flags.credits);
  const secret = await requireSecret(flags, output);
  output.hide(...secretsOf(url, requestHeaders));
  for (const file of [flags.junit, flags.sarif])
    if (typeof file === 'string') await requireWritable(file);
  const isForPeople = toStdout.length === 0;
  if (isForPeople) {
    output.line(text`Auditing ${output.paint.bold(showUrl(url))}`);
    output.line();
  }

  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const { reference, settle, bodyLimit, timeout, firstAnswer, concurrency } = flags;
  const report = await auditReceiver({
    url,
    secret,
    requestHeaders,
    reference,
    credits,
    settle,
    bodyLimit,
    timeout,
    firstAnswer,
    concurrency,
    stop: stop.signal,
    onProgress: progress(output),
  }).catch(explainNoAudit);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);

  if (isForPeople) showReport(report, output, { verbose: flags.verbose === true });
  output.document(report);
  await write(flags.junit, () => toJUnit(report), output);
  await write(
    flags.sarif,
    () => `${JSON.stringify(toSarif(report, VERSION), undefined, 2)}\n`,
    output,
  );
  if (report.stopped?.reason === 'interrupted') return INTERRUPTED;
  return report.passed ? EXIT.ok : EXIT.failed;
}

async function write(
  target: string | true | undefined,
  make: () => string,
  output: Output,
): Promise<void> {
  if (target === undefined) return;
  const content = output.redact(make());
  if (target === true) output.write(content);
  else {
    await writeFile(target, content).catch((error: unknown) => {
      throw failure(cannotBeWritten(target, error), 'the audit ran, but this report is missing');
    });
  }
}

function progress(
  output: Output,
): (step: { readonly done: number; readonly total: number; readonly name: string }) => void {
  const show = showProgress(output);
  return ({ done, total, name }) =>
    show(
      () => text`${done} of ${total}  ${name}`,
      () => text`audit: ${done} of ${total}`,
    );
}

/** Rethrows a failed connection with the kit's own explanation. */
function explainNoAudit(error: unknown): never {
  throw error instanceof Error && !(error instanceof Failure) && error.cause !== undefined
    ? failure(error.message)
    : error;
}
