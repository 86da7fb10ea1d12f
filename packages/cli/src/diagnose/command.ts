import { createHash } from 'node:crypto';
import { Command } from 'commander';
import { diagnose, type Diagnosis } from '@paylink/core/diagnose';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { readBytes } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import {
  addSecretOptions,
  requireSecretAsIs,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly body: string;
  readonly signature?: string;
}

/** `paylink diagnose`: explains why a signature does not match. */
export function diagnoseCommand(): Command {
  const command = new Command('diagnose')
    .summary('find out why a signature does not match')
    .description(
      'Takes the body that your server verified, the received signature and your secret. ' +
        'Tries the usual changes on the way, and names the line to change. Sends nothing, ' +
        'and prints neither the secret nor the body.',
    )
    .option('--body <file>', 'the body as your server verified it; - is stdin', '-')
    .option('--signature <hex>', 'the received value of X-Service-Signature');
  addSecretOptions(command);
  runs<Flags>(command, explain);
  return teach(command, {
    examples: [
      [
        'paylink diagnose --body body.bin --signature 9f86d081… --dotenv .env',
        'a body that your server wrote to a file, with its own secret',
      ],
      [
        'paylink diagnose --body body.bin --signature 9f86d081… --json',
        'for programs: cause, message, causes',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'the signature matches'], [1, 'the signature does not match'], USAGE_EXIT],
  });
}

async function explain({ flags, output }: Run<Flags>): Promise<number> {
  const { signature, body } = flags;
  if (signature === undefined)
    throw usageFailure('no --signature: pass the received value of X-Service-Signature');
  output.hide(signature);
  // An invalid secret is a cause to report, not a command line mistake.
  const secret = await requireSecretAsIs(flags, output);
  if (body === '-' && process.stdin.isTTY)
    output.advise('reading the body from the terminal, Ctrl-D ends it');
  const rawBody = await readBytes(body, '--body');
  const found = await diagnose({ rawBody, signature, secret });
  const measured = {
    bytes: rawBody.length,
    sha256: createHash('sha256').update(rawBody).digest('hex'),
  };
  show(found, output);
  output.line();
  output.line(output.paint.dim(`body: ${measured.bytes} bytes, SHA-256 ${measured.sha256}`));
  output.document({ ...found, body: measured });
  return found.matches ? EXIT.ok : EXIT.failed;
}

function show({ matches, message, causes }: Diagnosis, output: Output): void {
  const { paint } = output;
  if (matches) {
    output.line(text`${paint.green('matches')}  ${message}`);
    return;
  }
  for (const cause of causes) {
    output.line(text`${paint.red(cause.code)}  ${cause.message}`);
  }
  const isProven = causes.every(({ proven }) => proven);
  output.line();
  output.line(
    isProven
      ? 'Tried: without this change, the signature matches.'
      : 'Not certain: the signed bytes cannot be recovered from this body.',
  );
}
