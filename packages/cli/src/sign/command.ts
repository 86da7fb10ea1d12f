import type { Command } from 'commander';
import { requireValidSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { createCommand, option, type CommonFlags, type Run } from '../terminal/command.js';
import { EXIT } from '../terminal/failure.js';
import { readBytes } from '../terminal/input.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly body: string;
  readonly headers?: boolean;
}

/** `paylink sign`: signs a body. */
export const signCommand = (): Command =>
  createCommand<Flags>('sign', {
    summary: 'sign a body as the service does',
    description:
      'Prints the signature of a body: lower-case hexadecimal HMAC-SHA256 of its exact bytes. ' +
      'Sends nothing. A line break at the end of a file is part of the body.',
    options: [
      option('--body <file>', 'the body; - is stdin', { initial: '-' }),
      option('--headers', 'print the headers of a notification, one per line'),
      ...SECRET_OPTIONS,
    ],
    examples: [
      'paylink sign --body notification.json',
      `printf '{"reference":"order-42"}' | paylink sign --headers`,
    ],
    run: sign,
  });

async function sign({ flags, output }: Run<Flags>): Promise<number> {
  const secret = await requireValidSecret(flags, output);
  const rawBody = await readBytes(flags.body, '--body');
  const { signedDelivery } = await import('@paylink/testing');
  const { signature, headers } = signedDelivery({ secret, rawBody });
  output.document({ signature, bytes: rawBody.length, headers });
  if (flags.headers === true)
    for (const [name, value] of Object.entries(headers)) output.line(`${name}: ${value}`);
  else output.line(signature);
  return EXIT.ok;
}
