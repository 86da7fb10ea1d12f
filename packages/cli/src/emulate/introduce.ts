/** Prints the addresses, the lines for .env and the first commands. */
import type { Emulator } from '@paylink/emulator';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from '../terminal/dotenv.js';
import { readUrl, showUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { NPX, quoteForShell } from '../terminal/shell.js';
import { KEPT_SECRETS } from '../settings/kept-secrets.js';
import type { Setting } from '../settings/settings.js';
import type { EmulateFlags, Given } from './start.js';

export function addresses({ baseUrl, payUrl, dashboardUrl }: Emulator): Record<string, string> {
  return { baseUrl, payUrl, dashboardUrl };
}

/**
 * Prints the generated secrets, which open only this emulator. Never prints the user's own secrets.
 */
export function generated(
  { apiKey, webhookSecret }: Emulator,
  given: Given,
): { apiKey?: string; webhookSecret?: string } {
  return {
    ...(given.apiKey === undefined ? { apiKey } : {}),
    ...(given.secret === undefined ? { webhookSecret } : {}),
  };
}

export function introduce(
  emulator: Emulator,
  {
    flags,
    given,
    output,
  }: { readonly flags: EmulateFlags; readonly given: Given; readonly output: Output },
): void {
  const { paint } = output;
  const webhook = flags.webhook === undefined ? undefined : readUrl(flags.webhook, '--webhook');
  output.line(text`${paint.bold('The Payment Link Service, on your machine.')} No money moves.`);
  output.line();
  output.table([
    ['Dashboard', paint.cyan(emulator.dashboardUrl)],
    ['API', paint.cyan(emulator.baseUrl)],
    ['Pay pages', paint.cyan(`${emulator.payUrl}/link/<token>`)],
    [
      'Notifications',
      webhook === undefined
        ? 'none: --webhook <url> sends them to your server'
        : paint.cyan(showUrl(webhook)),
    ],
  ]);
  output.line();
  output.line(paint.bold('For your .env:'));
  output.line(`${BASE_URL_VARIABLE}=${emulator.baseUrl}`);
  showVariable(API_KEY_VARIABLE, emulator.apiKey, { given: given.apiKey, output });
  showVariable('WEBHOOK_SECRET', emulator.webhookSecret, { given: given.secret, output });
  if (given.apiKey === undefined || given.secret === undefined) {
    output.line(paint.dim(`# kept in ${KEPT_SECRETS}, which git ignores`));
  }
  output.line();
  output.line(paint.bold('Create a payment link, then open it and pay:'));
  output.line(
    `${NPX} links create${serviceFlags(emulator, flags)} --reference order-42 --amount 15000 ` +
      '--single-use --idempotency-key order-42',
  );
  output.line();
  output.line(paint.bold('Or act as the customer, in another terminal:'));
  output.line(`${NPX} pay order-42${serviceFlags(emulator, flags)}`);
  output.line();
  output.line(paint.dim('Ctrl-C stops it.'));
}

/**
 * Prints a .env line. A value that the user set is not repeated: the environment or the .env
 * already has it. A value from a flag becomes a comment, so that the lines can be pasted unchanged.
 */
function showVariable(
  name: string,
  value: string,
  { given, output }: { readonly given: Setting | undefined; readonly output: Output },
): void {
  if (given === undefined) output.line(`${name}=${value}`);
  else if (given.source.startsWith('--'))
    output.line(output.paint.dim(`# ${name}: set by ${given.source}`));
}

/** The flags with which other commands find this emulator and its key. */
function serviceFlags({ baseUrl }: Emulator, { dotenv, apiKeyFile }: EmulateFlags): string {
  const flags = [
    ['--base-url', baseUrl],
    ['--dotenv', dotenv],
    ['--api-key-file', apiKeyFile],
  ];
  return flags
    .filter((flag): flag is [string, string] => flag[1] !== undefined && flag[1] !== '-')
    .map(([name, value]) => ` ${name} ${quoteForShell(value)}`)
    .join('');
}
