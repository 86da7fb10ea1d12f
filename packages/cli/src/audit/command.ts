import { Option, type Command } from 'commander';
import {
  ALLOW_HOST_OPTION,
  HEADER_OPTION,
  hideRequest,
  requireAllowedHost,
  TO_OPTION,
  type TargetFlags,
} from '../receiver/target.js';
import { requireValidSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import { duration, showUrl, wholeNumber } from '../terminal/input.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { showReport } from './show-report.js';

interface Flags extends CommonFlags, SecretFlags, TargetFlags {
  readonly reference?: string;
  readonly bodyLimit?: number;
  readonly timeout?: number;
}

/** `paylink audit`: runs the attack kit against a running server. */
export const auditCommand = (): Command =>
  createCommand<Flags>('audit', {
    summary: 'attack your running server and report its problems',
    description:
      'Sends forged, replayed, broken and genuine notifications to a running server in any ' +
      'language, and reports its problems with evidence and fixes. Audit only your own servers, ' +
      'and never in production: a few hundred of the notifications are genuine, so the server ' +
      'credits their order and orders whose reference contains that one. To test your credit, ' +
      'run paylink doctor --module.',
    options: [
      TO_OPTION,
      new Option(
        '--reference <reference>',
        'the order in the genuine notifications, which the server may credit (default: ' +
          'paylink-audit)',
      ),
      new Option(
        '--body-limit <bytes>',
        "the server's body limit, to test it to the byte",
      ).argParser(wholeNumber(1_024, 100_000_000)),
      new Option(
        '--timeout <time>',
        'how long to wait for the reply to a slow body (default: 15s)',
      ).argParser(duration),
      HEADER_OPTION,
      ALLOW_HOST_OPTION,
      ...SECRET_OPTIONS,
    ],
    examples: [
      'paylink audit --to http://localhost:3000/webhooks/payments',
      'paylink audit --to http://localhost:3000/webhooks/payments --reference order-42',
      'paylink audit --to http://localhost:3000/webhooks/payments --dotenv .env --json > audit.json',
    ],
    run: audit,
  });

async function audit({ flags, output }: Invocation<Flags>): Promise<number> {
  const { to: url, header: requestHeaders, reference, bodyLimit, timeout } = flags;
  requireAllowedHost(flags, 'if you own that server and it is not in production');
  const secret = await requireValidSecret(flags, output);
  hideRequest(flags, output);
  output.line(text`Auditing ${output.paint.bold(showUrl(url))}`);
  output.line();

  const { auditReceiver } = await import('./audit-receiver.js');
  const stop = new AbortController();
  void untilStopped().then(() => stop.abort());
  const report = await auditReceiver({
    ...{ url, secret, requestHeaders, reference, bodyLimit, timeout, signal: stop.signal },
    onProgress: ({ done, total, name }) =>
      output.progress(`${done} of ${total}  ${name}`, done / total),
  });

  showReport(report, output);
  output.document(report);
  if (report.stopped?.reason === 'interrupted') return EXIT.interrupted;
  return report.passed ? EXIT.ok : EXIT.failed;
}
