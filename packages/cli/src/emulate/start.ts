/** Starts the emulator with the flags, or explains why it cannot start. */
import type { Emulator, EmulatorOptions } from '@paylink/emulator';
import { keepSecrets, readKeptSecrets, type KeptSecrets } from '../settings/kept-secrets.js';
import type { ApiKeyFlags, SecretFlags, Setting } from '../settings/settings.js';
import type { CommonFlags } from '../terminal/command.js';
import {
  failure,
  isConfigurationError,
  messageOf,
  usageFailure,
  type Failure,
} from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { logAttempt, logRequest } from './log.js';

export interface EmulateFlags extends CommonFlags, SecretFlags, ApiKeyFlags {
  readonly port: number;
  readonly host?: string;
  readonly payUrl?: string;
  readonly webhook?: URL;
  readonly allowHost?: readonly string[];
  readonly allowRemote?: boolean;
  readonly assume?: Readonly<Record<string, unknown>>;
}

/** The values that the user set. Undefined values come from the kept secrets, or are generated. */
export interface Given {
  readonly secret: Setting | undefined;
  readonly apiKey: Setting | undefined;
}

export async function start(flags: EmulateFlags, given: Given, output: Output): Promise<Emulator> {
  const { port, webhook, host, payUrl, allowRemote, allowHost: allowHosts } = flags;
  const kept = readKeptSecrets();
  const options: EmulatorOptions = {
    ...{ port, host, payUrl, allowRemote, allowHosts, assumed: flags.assume },
    apiKey: given.apiKey?.value ?? kept.apiKey,
    webhook: { url: webhook?.href, secret: given.secret?.value ?? kept.webhookSecret },
    onRequest: (request) => logRequest(request, output),
    onAttempt: (delivery, attempt) => logAttempt(delivery, attempt, output),
  };
  const { startEmulator } = await import('@paylink/emulator');
  const emulator = await startEmulator(options).catch((error: unknown) => {
    throw explainStart(error, flags, given);
  });
  keep(emulator, { given, kept, output });
  return emulator;
}

/** Saves the generated secrets. If the file cannot be written, the emulator runs without it. */
function keep(
  { apiKey, webhookSecret }: Emulator,
  { given, kept, output }: { given: Given; kept: KeptSecrets; output: Output },
): void {
  const fresh = {
    apiKey: given.apiKey === undefined ? apiKey : kept.apiKey,
    webhookSecret: given.secret === undefined ? webhookSecret : kept.webhookSecret,
  };
  if (fresh.apiKey === kept.apiKey && fresh.webhookSecret === kept.webhookSecret) return;
  try {
    keepSecrets(fresh, output);
  } catch (error) {
    output.note(`${messageOf(error)}: each start creates new secrets`);
  }
}

/** The flag behind each emulator option. */
const FLAGS: Readonly<Record<string, string>> = {
  host: '--host',
  payUrl: '--pay-url',
  'webhook.url': '--webhook',
  allowHosts: '--allow-host',
};

function explainStart(error: unknown, { port }: EmulateFlags, { apiKey, secret }: Given): Failure {
  if (isConfigurationError(error)) {
    const { option, message } = error;
    const source = { apiKey: apiKey?.source, 'webhook.secret': secret?.source }[option];
    const flag = FLAGS[option] ?? source ?? option.replace(/^assumed\./, '--assume ');
    const problem = message
      .slice(option.length)
      .replace('allowRemote is true', 'you add --allow-remote')
      .replace('allowHosts names its host', 'you add --allow-host <host>');
    return usageFailure(`${flag}${problem}`);
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return failure(
      `port ${port} is taken: is another emulator running?`,
      'choose another port with --port, or let --port 0 pick a free port',
    );
  return failure(messageOf(error));
}
