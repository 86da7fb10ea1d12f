import { Command } from 'commander';
import { auditReceiver, type AuditReport, type AuditResult } from '@paylink/testing';
import { runs, type CommonFlags, type Run } from '../action.js';
import { EXIT, failure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import { collect, readHeaders, requireTarget, seconds, showUrl, wholeNumber } from '../input.js';
import type { Output } from '../output.js';
import { text, type Printable } from '../safe-text.js';
import { addSecretOptions, requireSecret, SECRET_ENVIRONMENT, type SecretFlags } from '../settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly to?: string;
  readonly reference?: string;
  readonly header?: readonly string[];
  readonly bodyLimit?: number;
  readonly confirm?: boolean;
  readonly timeout?: number;
  readonly concurrency?: number;
}

/** `paylink audit`: the attack kit against a running server. */
export function auditCommand(): Command {
  const command = new Command('audit')
    .summary('attack your running server, and see whether it holds')
    .description(
      'Sends forged, replayed, broken and genuine notifications to a running server, in whatever language it is written, and compares ' +
        'what it answers with what it should. Audit only servers of your own, and not the one in production: genuine notifications ' +
        'are among them, some hundred, and a server credits their order and some named after it.',
    )
    .option('--to <url>', 'the address of the webhook')
    .option('--reference <reference>', 'the order of the genuine notifications: one that may be credited (default: paylink-audit)')
    .option('--header <header>', 'another header, "Name: value", for a tunnel or a gateway; can be repeated', collect)
    .option('--body-limit <bytes>', 'the most that the server takes, to try that limit to the byte', wholeNumber(1, 100_000_000))
    .option('--confirm', 'the server asks the API before it credits: then no field of the body decides')
    .option(
      '--timeout <seconds>',
      'how long to wait for each answer; longer than the server waits for a slow body (default: 15)',
      seconds,
    )
    .option('--concurrency <n>', 'how many attacks at once (default: 4)', wholeNumber(1, 32));
  addSecretOptions(command);
  runs<Flags>(command, audit);
  return teach(command, {
    examples: [
      ['paylink audit --to http://localhost:3000/webhooks/payments', 'every attack; the secret is in the environment'],
      [
        'paylink audit --to http://localhost:3000/webhooks/payments --dotenv .env --json > audit.json',
        'for a pipeline: it fails when there is a finding',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'no finding'], [1, 'a finding, or the server did not answer'], USAGE_EXIT],
  });
}

async function audit({ flags, output }: Run<Flags>): Promise<number> {
  const url = requireTarget(flags.to);
  const requestHeaders = readHeaders(flags.header);
  const secret = await requireSecret(flags, output);
  output.hide(...Object.values(requestHeaders));
  output.line(text`Auditing ${output.paint.bold(showUrl(url))}`);
  output.line();

  let done = 0;
  const { reference, bodyLimit, confirm, timeout, concurrency } = flags;
  const report = await auditReceiver({
    url,
    secret,
    requestHeaders,
    reference,
    bodyLimit,
    confirm,
    timeout,
    concurrency,
    onResult: ({ name }) => output.progress(text`${++done}  ${name}`),
  }).catch(explainNoAudit);
  show(report, output);
  output.document(report);
  return report.passed ? EXIT.ok : EXIT.failed;
}

/** That there is no connection, the kit explains by itself. */
function explainNoAudit(error: unknown): never {
  throw error instanceof Error && error.cause !== undefined ? failure(error.message) : error;
}

function show({ results, findings }: AuditReport, output: Output): void {
  const { paint } = output;
  output.table(results.map((result) => row(result, output)));
  output.line();
  for (const { name, severity, expected, actual, detail, advice } of findings) {
    output.line(text`${paint.red(severity ?? 'finding')}  ${paint.bold(name)}`);
    const seen = [actual ?? 'no answer', detail].filter((part) => part !== undefined).join('; ');
    output.line(text`  ${expected.length === 0 ? '' : `expected ${expected.join(' or ')}, `}got ${seen}`);
    output.line(text`  ${advice}`);
    output.line();
  }
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const total = `${results.length - skipped} tried${skipped === 0 ? '' : `, ${skipped} not`}`;
  output.line(
    findings.length === 0 ? paint.green(`${total}: no finding`) : paint.red(`${total}: ${counted(findings.length, 'finding')}`),
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The names begin with the ids. */
function row({ name, passed, skipped, actual }: AuditResult, { paint }: Output): Printable[] {
  if (skipped !== undefined) return [paint.dim('–'), '', text`${name} ${paint.dim(`(not tried: ${skipped})`)}`];
  return [passed ? paint.green('ok') : paint.red('FOUND'), paint.dim(actual ?? ''), name];
}
