import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { auditReceiver } from '@paylink/testing';
import {
  ALLOW_HOST_OPTION,
  HEADER_OPTION,
  hideRequest,
  requireAllowedHost,
  TO_OPTION,
  type TargetFlags,
} from '../receiver/target.js';
import { requireValidSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { createCommand, option, type CommonFlags, type Run } from '../terminal/command.js';
import { cannotBeWritten, EXIT, usageFailure } from '../terminal/failure.js';
import { collect, duration, showUrl, wholeNumber } from '../terminal/input.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { parseCredits, type Credits } from './credits.js';
import { toJUnit } from './junit.js';
import { showReport } from './show-report.js';

interface Flags extends CommonFlags, SecretFlags, TargetFlags {
  readonly reference?: readonly string[];
  readonly credits?: Credits;
  readonly settle?: number;
  readonly bodyLimit?: number;
  readonly timeout?: number;
  readonly firstAnswer?: number;
  readonly junit?: string;
}

/** `paylink audit`: the attack kit against a running server. */
export const auditCommand = (): Command =>
  createCommand<Flags>('audit', {
    summary: 'attack your running server and report its faults',
    description:
      'Sends forged, replayed, broken and genuine notifications to a running server in any ' +
      'language, and names its faults with evidence and fixes. Audit only your own servers, and ' +
      'not in production: a few hundred of the notifications are genuine, so the server credits ' +
      'their order and others named after it.',
    options: [
      TO_OPTION,
      option(
        '--reference <reference>',
        'the order in the genuine notifications, which the server may credit (default: ' +
          'paylink-audit). Can be repeated: a server that looks up its orders needs five for a ' +
          'complete audit',
        { parse: collect },
      ),
      option(
        '--credits <url|command>',
        "returns an order's number of credits, as a response body or on standard output; " +
          '{reference} is replaced',
        { parse: parseCredits },
      ),
      option(
        '--settle <time>',
        "from an answer to its credit, longer than the server's queue takes (default: 0.6s)",
        { parse: duration },
      ),
      option('--body-limit <bytes>', "the server's body limit, to test it to the byte", {
        parse: wholeNumber(1_024, 100_000_000),
      }),
      option('--timeout <time>', 'for the answer to a slow body (default: 15s)', {
        parse: duration,
      }),
      option('--first-answer <time>', 'for the first answer (default: 1.5s)', { parse: duration }),
      option('--junit <file>', 'write a JUnit report'),
      HEADER_OPTION,
      ALLOW_HOST_OPTION,
      ...SECRET_OPTIONS,
    ],
    examples: [
      'paylink audit --to http://localhost:3000/webhooks/payments',
      "paylink audit --to http://localhost:3000/hook --credits 'http://localhost:3000/credits/{reference}'",
      'paylink audit --to http://localhost:3000/webhooks/payments --dotenv .env --json > audit.json',
    ],
    run: audit,
  });

async function audit({ flags, output }: Run<Flags>): Promise<number> {
  const { to: url, header: requestHeaders, junit, ...options } = flags;
  const { reference, credits, settle, bodyLimit, timeout, firstAnswer } = options;
  requireAllowedHost(flags, 'if you own that server and it is not in production');
  const secret = await requireValidSecret(flags, output);
  hideRequest(flags, output);
  // Fails before the audit, which takes minutes, instead of losing its report.
  if (junit !== undefined)
    await writeFile(junit, '').catch((error: unknown) => {
      throw usageFailure(cannotBeWritten(junit, error), 'nothing was sent');
    });
  output.line(text`Auditing ${output.paint.bold(showUrl(url))}`);
  output.line();

  const stop = new AbortController();
  void untilStopped().then(() => stop.abort());
  const report = await auditReceiver({
    ...{ url, secret, requestHeaders, reference, credits, settle },
    ...{ bodyLimit, timeout, firstAnswer, stop: stop.signal },
    onProgress: ({ done, total, name }) => output.progress(`${done} of ${total}  ${name}`),
  });

  showReport(report, output);
  output.document(report);
  if (junit !== undefined) await writeFile(junit, output.redact(toJUnit(report)));
  if (report.stopped?.reason === 'interrupted') return EXIT.interrupted;
  return report.passed ? EXIT.ok : EXIT.failed;
}
