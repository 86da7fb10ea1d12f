import { Command } from 'commander';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { readUrl } from '../terminal/input.js';
import { contractHeaders, makeNotification, PAYMENT_SUCCEEDED } from '../receiver/notification.js';
import { quoteForShell } from '../terminal/shell.js';
import {
  addSecretOptions,
  requireSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly body: string;
  readonly event: string;
  readonly headers?: boolean;
  readonly curl?: string;
}

/** `paylink sign`: signs a body. */
export function signCommand(): Command {
  const command = new Command('sign')
    .summary('sign a body as the service does')
    .description(
      'Prints the signature of a body: lower-case hexadecimal HMAC-SHA256 of its exact ' +
        'bytes. Sends nothing. A line break at the ' +
        'end of a file is part of the body.',
    )
    .option('--body <file>', 'the body; - is stdin', '-')
    .option('--event <kind>', 'the event kind, for --headers and --curl', PAYMENT_SUCCEEDED)
    .option('--headers', 'print the headers of a notification, one per line')
    .option('--curl <url>', 'print a curl command that sends it to an address');
  addSecretOptions(command);
  runs<Flags>(command, sign);
  return teach(command, {
    examples: [
      ['paylink sign --body notification.json', 'the signature alone'],
      [
        `printf '{"reference":"order-42"}' | paylink sign --headers`,
        'the headers. Unlike echo, printf does not add a line break',
      ],
      [
        'paylink sign --body notification.json --curl http://localhost:3000/webhooks/payments | sh',
        'send it with curl',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'signed'], USAGE_EXIT],
  });
}

async function sign({ flags, output }: Run<Flags>): Promise<number> {
  if (flags.headers === true && flags.curl !== undefined)
    throw usageFailure('--headers and --curl cannot both be given');
  if (flags.curl !== undefined && flags.body === '-')
    throw usageFailure('--curl needs --body <file>, which curl then reads too');
  if (flags.body === '-' && process.stdin.isTTY)
    output.advise('reading the body from the terminal, Ctrl-D ends it');
  const url = flags.curl === undefined ? undefined : readUrl(flags.curl, '--curl');
  const delivery = await makeNotification(
    { body: flags.body },
    flags.event,
    await requireSecret(flags, output),
  );
  const headers = contractHeaders(delivery);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

  output.document({ signature: delivery.signature, bytes: delivery.rawBody.length, headers });
  if (url !== undefined) output.line(curlLine(url, lines, flags.body));
  else if (flags.headers === true) lines.forEach((line) => output.line(line));
  else output.line(delivery.signature);
  return EXIT.ok;
}

/**
 * Returns a curl command. `-g` stops curl from sending one request per name in `{a,b}`.
 * `--data-binary` keeps line breaks.
 */
function curlLine(url: URL, headers: readonly string[], file: string): string {
  const words = headers.flatMap((header) => ['-H', quoteForShell(header)]);
  return [
    'curl',
    '-g',
    '-sS',
    '-X',
    'POST',
    quoteForShell(url.href),
    ...words,
    '--data-binary',
    quoteForShell(`@${file}`),
  ].join(' ');
}
