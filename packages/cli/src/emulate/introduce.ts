/** Prints the addresses, the lines for .env and the first commands. */
import { existsSync } from 'node:fs';
import type { Emulator } from '@paylink/emulator';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { showUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { NPX, optionsFor } from '../terminal/shell.js';
import { KEPT_SECRETS } from '../settings/kept-secrets.js';
import type { EmulateFlags, Given } from './start.js';

export async function introduce(
  emulator: Emulator,
  { flags, given, output }: { flags: EmulateFlags; given: Given; output: Output },
): Promise<void> {
  const { paint } = output;
  const { baseUrl, payUrl, dashboardUrl } = emulator;
  output.line(text`${paint.bold('The Payment Link Service, on your machine.')} No money moves.`);
  output.line();
  await output.table([
    ['Dashboard', paint.cyan(dashboardUrl)],
    ['API', paint.cyan(baseUrl)],
    ['Pay pages', paint.cyan(`${payUrl}/link/<token>`)],
    [
      'Notifications',
      flags.webhook === undefined
        ? 'none: --webhook <url> sends them to your server'
        : paint.cyan(showUrl(flags.webhook)),
    ],
  ]);
  output.line();
  output.line(paint.bold('For your .env:'));
  output.line(`${BASE_URL_VARIABLE}=${baseUrl}`);
  // The environment or .env has the values that the user set, so they are not printed.
  if (given.apiKey === undefined) output.line(`${API_KEY_VARIABLE}=${emulator.apiKey}`);
  if (given.secret === undefined) output.line(`${SECRET_VARIABLE}=${emulator.webhookSecret}`);
  if ((given.apiKey === undefined || given.secret === undefined) && existsSync(KEPT_SECRETS))
    output.line(paint.dim(`# saved in ${KEPT_SECRETS}`));
  output.line();
  const { dotenv, apiKeyFile } = flags;
  const service = optionsFor({ 'base-url': baseUrl, dotenv, 'api-key-file': apiKeyFile });
  output.line(paint.bold('Create a payment link, then open it and pay:'));
  output.line(
    `${NPX} links create${service} --reference order-42 --amount 15000 --single-use ` +
      '--idempotency-key order-42',
  );
  output.line();
  output.line(paint.bold('Or act as the customer, in another terminal:'));
  output.line(`${NPX} pay order-42${service}`);
  output.line();
  output.line(paint.dim('Ctrl-C stops it.'));
}
