/** Starts the emulator by the flags, and explains why it cannot start. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import type { CommonFlags } from '../terminal/action.js';
import {
  cannotBeWritten,
  failure,
  type Failure,
  isConfigurationError,
  usageFailure,
} from '../terminal/failure.js';
import { readUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { KEPT_SECRETS, keepSecrets, type KeptSecrets } from '../settings/kept-secrets.js';
import type { ApiKeyFlags, SecretFlags, Setting } from '../settings/settings.js';
import { readFields } from '../receiver/notification.js';

export interface EmulateFlags extends CommonFlags, SecretFlags, ApiKeyFlags {
  readonly port: number;
  readonly host?: string;
  readonly payUrl?: string;
  readonly webhook?: string;
  readonly allowHost?: readonly string[];
  readonly allowRemote?: boolean;
  readonly assume?: readonly string[];
  readonly state?: string;
}

/** What the user set. Undefined values come from the kept secrets, or are new. */
export interface Given {
  readonly secret: Setting | undefined;
  readonly apiKey: Setting | undefined;
}

/** Saves the generated secrets. If the file cannot be written, the emulator runs without it. */
export async function keep(
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

export async function start(
  flags: EmulateFlags,
  { secret, apiKey }: Given,
  kept: KeptSecrets,
  onRequest: NonNullable<EmulatorOptions['onRequest']>,
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
  { port, host = '127.0.0.1' }: EmulateFlags,
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
