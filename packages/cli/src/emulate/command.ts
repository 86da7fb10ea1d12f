import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command } from 'commander';
import {
  startEmulator,
  type ApiRequest,
  type Emulator,
  type EmulatorOptions,
} from '@paylink/emulator';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { watchDeliveries, type LoggedAttempt } from './delivery-log.js';
import {
  cannotBeWritten,
  EXIT,
  failure,
  type Failure,
  isConfigurationError,
  usageFailure,
} from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { collect, readUrl, showUrl, wholeNumber } from '../terminal/input.js';
import {
  KEPT_SECRETS,
  keepSecrets,
  readKeptSecrets,
  type KeptSecrets,
} from '../settings/kept-secrets.js';
import { readFields } from '../receiver/notification.js';
import type { Output } from '../terminal/output.js';
import { text, type SafeText } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { NPX, quoteForShell } from '../terminal/shell.js';
import {
  addApiKeyOptions,
  addSecretOptions,
  API_KEY_VARIABLE,
  BASE_URL_VARIABLE,
  findGivenApiKey,
  findGivenSecret,
  SECRET_ENVIRONMENT,
  type ApiKeyFlags,
  type SecretFlags,
  type Setting,
} from '../settings/settings.js';

interface Flags extends CommonFlags, SecretFlags, ApiKeyFlags {
  readonly port: number;
  readonly host?: string;
  readonly payUrl?: string;
  readonly webhook?: string;
  readonly allowHost?: readonly string[];
  readonly allowRemote?: boolean;
  readonly assume?: readonly string[];
  readonly state?: string;
}

const DEFAULT_PORT = 4010;

/** `paylink emulate`: runs the service on this machine. */
export function emulateCommand(): Command {
  const command = new Command('emulate')
    .summary('run the Payment Link Service on your machine')
    .description(
      'Runs the service on your machine: the API, ' +
        'the payment page, signed notifications, and a dashboard. Moves no money. Prints ' +
        'the lines for your .env, each API request and each notification. Reads secrets ' +
        `from the environment, from .env or from ${KEPT_SECRETS}, and saves new secrets ` +
        'there. In another terminal, paylink pay, fail and cancel act as the customer. ' +
        'Ctrl-C stops it.',
    )
    .option('--port <port>', 'the port (0: any free port)', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <host>', 'the listening address (default: 127.0.0.1)')
    .option('--pay-url <url>', 'the address for browsers, if it differs')
    .option('--webhook <url>', "your server's address for notifications")
    .option(
      '--allow-host <host>',
      'also send notifications to this remote host (can be repeated)',
      collect,
    )
    .option(
      '--allow-remote',
      'allow an address that other machines reach: each of them can mark payments as paid',
    )
    .option(
      '--assume <name=value>',
      "change the emulator's choice in an open point of the contract (can be repeated)",
      collect,
    )
    .option(
      '--state <file>',
      'keep links, payments and notifications in this file, through a restart or a kill',
    );
  addSecretOptions(command);
  addApiKeyOptions(command);
  runs<Flags>(command, emulate);
  return teach(command, {
    examples: [
      [
        'paylink emulate --webhook http://localhost:3000/webhooks/payments',
        'the whole service, and notifications to your server',
      ],
      [
        'paylink emulate --assume replayedKey=refuse --assume firstRetryDelay=50',
        'tests your code against another behaviour of the service',
      ],
      ['paylink emulate --state .paylink/state', 'keeps the payments, even after a kill'],
      [
        'paylink emulate --json',
        'for programs: one JSON object per line, the first with the addresses',
      ],
    ],
    environment: [
      SECRET_ENVIRONMENT,
      [
        API_KEY_VARIABLE,
        `the API key that the emulator accepts. Default: the secrets in ${KEPT_SECRETS}`,
      ],
    ],
    exitCodes: [
      [0, 'stopped by Ctrl-C or SIGTERM'],
      [1, 'the emulator could not start: the port is taken'],
      USAGE_EXIT,
    ],
  });
}

async function emulate({ flags, output }: Run<Flags>): Promise<number> {
  const given = {
    secret: await findGivenSecret(flags, output),
    apiKey: await findGivenApiKey(flags, output),
  };
  const kept = readKeptSecrets();
  const since = new Date();
  const emulator = await start(flags, given, kept, (request) => logRequest(request, output));
  await keep(emulator, given, { kept, output });
  const stopped = untilStopped();
  if (output.isJson)
    output.record({ type: 'started', ...addresses(emulator), ...generated(emulator, given) });
  else introduce(emulator, { flags, given, output });

  const stopWatching = watchDeliveries(emulator, (attempt) => log(attempt, output), since);
  await stopped;
  stopWatching();
  await emulator.close();
  output.record({ type: 'stopped' });
  output.advise('stopped');
  return EXIT.ok;
}

interface Given {
  readonly secret: Setting | undefined;
  readonly apiKey: Setting | undefined;
}

/** Saves the generated secrets. If the file cannot be written, the emulator runs without it. */
async function keep(
  { apiKey, webhookSecret }: Emulator,
  given: Given,
  { kept, output }: { readonly kept: KeptSecrets; readonly output: Output },
): Promise<void> {
  const fresh = {
    apiKey: given.apiKey === undefined ? apiKey : kept.apiKey,
    webhookSecret: given.secret === undefined ? webhookSecret : kept.webhookSecret,
  };
  if (fresh.apiKey === kept.apiKey && fresh.webhookSecret === kept.webhookSecret) return;
  await keepSecrets(fresh).catch((error: unknown) => {
    output.note(`${cannotBeWritten(KEPT_SECRETS, error)}: each start makes new secrets`);
  });
}

async function start(
  flags: Flags,
  { secret, apiKey }: Given,
  kept: KeptSecrets,
  onRequest: (request: ApiRequest) => void,
): Promise<Emulator> {
  const url = flags.webhook === undefined ? undefined : readUrl(flags.webhook, '--webhook').href;
  if (flags.state !== undefined) await mkdir(dirname(flags.state), { recursive: true });
  const options: EmulatorOptions = {
    port: flags.port,
    onRequest,
    apiKey: apiKey?.value ?? kept.apiKey,
    webhook: { url, secret: secret?.value ?? kept.webhookSecret },
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.payUrl === undefined ? {} : { payUrl: flags.payUrl }),
    ...(flags.allowHost === undefined ? {} : { allowHosts: flags.allowHost }),
    ...(flags.allowRemote === undefined ? {} : { allowRemote: true }),
    ...(flags.state === undefined ? {} : { state: flags.state }),
    ...(flags.assume === undefined
      ? {}
      : { assumed: readFields(flags.assume, '--assume', 'replayedKey=refuse') }),
  };
  try {
    return await startEmulator(options);
  } catch (error) {
    throw explainStart(error, flags, apiKey);
  }
}

/** The flag behind each emulator option. */
const FLAGS: Record<string, string> = {
  port: '--port',
  host: '--host',
  payUrl: '--pay-url',
  'webhook.url': '--webhook',
  'webhook.secret': '--secret',
  allowHosts: '--allow-host',
  allowRemote: '--allow-remote',
  state: '--state',
};

const FIXES: Record<string, string> = {
  host: 'add --allow-remote to listen there',
  'webhook.url': 'add --allow-host <host> to send there',
};

function explainStart(
  error: unknown,
  { port, host = '127.0.0.1' }: Flags,
  apiKey: Setting | undefined,
): Failure {
  if (isConfigurationError(error)) {
    const { option } = error;
    const name =
      option === 'apiKey'
        ? (apiKey?.source ?? KEPT_SECRETS)
        : (FLAGS[option] ?? option.replace(/^assumed\./, '--assume '));
    return usageFailure(`${name}${error.message.slice(option.length)}`, FIXES[option]);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return failure(
      `port ${port} is taken: is another emulator running?`,
      'choose another port with --port, or let --port 0 pick a free port',
    );
  }
  if (code === 'EACCES')
    return failure(`this user may not listen on port ${port}`, 'choose a port above 1023');
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return failure(`${host} is not an address of this machine`);
  return failure(message);
}

function addresses({ baseUrl, payUrl, dashboardUrl }: Emulator): Record<string, string> {
  return { baseUrl, payUrl, dashboardUrl };
}

/**
 * Prints the generated secrets, which open only this emulator. Never prints the user's own secrets.
 */
function generated(
  { apiKey, webhookSecret }: Emulator,
  given: Given,
): { apiKey?: string; webhookSecret?: string } {
  return {
    ...(given.apiKey === undefined ? { apiKey } : {}),
    ...(given.secret === undefined ? { webhookSecret } : {}),
  };
}

function introduce(
  emulator: Emulator,
  {
    flags,
    given,
    output,
  }: { readonly flags: Flags; readonly given: Given; readonly output: Output },
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
function serviceFlags({ baseUrl }: Emulator, { dotenv, apiKeyFile }: Flags): string {
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

function log(attempt: LoggedAttempt, output: Output): void {
  output.record({ type: 'delivery', ...attempt });
  output.line(describeAttempt(attempt, output));
  if (attempt.advice !== undefined)
    output.line(output.paint.dim(text`          ${attempt.advice}`));
}

function describeAttempt(attempt: LoggedAttempt, { paint }: Output): SafeText {
  const { at, event, reference, number, status, code, error, durationMs, retryInMs } = attempt;
  const subject = text`${event} ${reference}${number > 1 ? ` (${number})` : ''}`;
  const answer =
    status === undefined
      ? paint.red(error ?? 'no answer')
      : (attempt.acknowledged ? paint.green : paint.red)(
          `${status}${code === undefined ? '' : ` (${code})`}`,
        );
  // The reason of a missing answer names its time already.
  const time = status === undefined ? '' : text` ${paint.dim(`in ${durationMs} ms`)}`;
  const again = retryInMs === undefined ? '' : `, again in ${(retryInMs / 1_000).toFixed(1)} s`;
  return text`${paint.dim(at.slice(11, 19))}  ${subject} → ${answer}${time}${again}`;
}

/** Logs a request to the API without its body, which the dashboard shows. */
function logRequest(request: ApiRequest, output: Output): void {
  const { at, durationMs, method, path, reference, status, code, message } = request;
  const common = { at: at.toISOString(), method, path, status, durationMs: Math.round(durationMs) };
  output.record({
    type: 'request',
    ...common,
    ...(reference === undefined ? {} : { reference }),
    ...(code === undefined ? {} : { code }),
  });
  const { paint } = output;
  const answer = status < 400 ? paint.green(status) : paint.red(status);
  const subject = method === 'POST' && reference !== undefined ? ` ${reference}` : '';
  const why = message === undefined ? '' : `: ${message}`;
  output.line(
    text`${paint.dim(common.at.slice(11, 19))}  ${method} ${path}${subject} → ${answer}${why}`,
  );
}
