import { createHash } from 'node:crypto';
import { Option, type Command } from 'commander';
import type { Diagnosis } from '@paylink/core/diagnose';
import { requireSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import { readBytes } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly body: string;
  readonly signature: string;
}

/** `paylink diagnose`: explains why a signature does not match. */
export const diagnoseCommand = (): Command =>
  createCommand<Flags>('diagnose', {
    summary: 'find out why a signature does not match',
    description:
      'Takes the body that your server verified, the received signature and your secret. Tries ' +
      'the changes that proxies and parsers usually make, and prints the cause and the fix. ' +
      'Sends nothing, and never prints the secret or the body.',
    options: [
      new Option('--body <file>', 'the body as your server verified it; - is stdin').default('-'),
      new Option(
        '--signature <hex>',
        'the received value of X-Service-Signature',
      ).makeOptionMandatory(),
      ...SECRET_OPTIONS,
    ],
    examples: ['paylink diagnose --body body.bin --signature 9f86d081… --dotenv .env'],
    run: explain,
  });

async function explain({ flags, output }: Invocation<Flags>): Promise<number> {
  const { signature, body } = flags;
  output.hide(signature);
  // An invalid secret is a cause to report, not a command line mistake.
  const secret = (await requireSecret(flags, output)).value;
  const rawBody = await readBytes(body, '--body');
  const { diagnose } = await import('@paylink/core/diagnose');
  const found = await diagnose({ rawBody, signature, secret });
  const bytes = rawBody.length;
  const sha256 = createHash('sha256').update(rawBody).digest('hex');
  show(found, output);
  output.line();
  output.line(output.paint.dim(`body: ${bytes} bytes, SHA-256 ${sha256}`));
  output.document({ ...found, body: { bytes, sha256 } });
  return found.matches ? EXIT.ok : EXIT.failed;
}

function show({ matches, message, causes }: Diagnosis, output: Output): void {
  const { paint } = output;
  if (matches) {
    output.line(text`${paint.green('matches')}  ${message}`);
    return;
  }
  for (const cause of causes) output.line(text`${paint.red(cause.code)}  ${cause.message}`);
  output.line();
  output.line(
    causes.every(({ proven }) => proven)
      ? 'Tried: without this change, the signature matches.'
      : 'Not certain: no change that was tried makes the signature match.',
  );
}
