import { randomBytes } from 'node:crypto';
import { ConfigurationError, sign } from '@paylink/core';
import { readAssumed, type Assumed, type AssumedOptions } from './assumed.js';
import { generateApiKey, isApiKey } from './authentication.js';
import { isLoopbackHost } from './loopback.js';

export interface EmulatorOptions {
  /** Default: any free port. */
  readonly port?: number | undefined;
  /** `localhost` or a loopback address. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** `sk_live_<id>.<secret>`. Default: a new one, given back as `apiKey`. */
  readonly apiKey?: string | undefined;
  readonly webhook?:
    | {
        /** Where notifications go: http or https on this machine. Without it none are sent. */
        readonly url?: string | undefined;
        /** Default: a new one, given back as `webhookSecret`. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /** What the contract leaves open: each choice of the emulator's is a switch here. */
  readonly assumed?: AssumedOptions | undefined;
}

export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly apiKey: string;
  readonly webhookUrl: URL | undefined;
  readonly webhookSecret: string;
  readonly assumed: Assumed;
}

/** Checks the options and fills in the defaults. @throws ConfigurationError that names the option. */
export async function readOptions(options: EmulatorOptions): Promise<Settings> {
  refuseUnknown(options, ['port', 'host', 'apiKey', 'webhook', 'assumed'], '');
  refuseUnknown(options.webhook ?? {}, ['url', 'secret'], 'webhook.');
  const { port = 0, host = '127.0.0.1', apiKey = generateApiKey(), webhook, assumed } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ConfigurationError('port', 'must be a whole number from 0 to 65535');
  }
  if (typeof host !== 'string' || !isLoopbackHost(host)) {
    throw new ConfigurationError(
      'host',
      'must be localhost or a loopback address: whoever reaches the emulator can mark a payment as paid, so it stays on this machine',
    );
  }
  if (!isApiKey(apiKey)) throw new ConfigurationError('apiKey', 'must have the form sk_live_<id>.<secret>');
  return {
    port,
    host,
    apiKey,
    webhookUrl: webhook?.url === undefined ? undefined : readWebhookUrl(webhook.url),
    webhookSecret: await readWebhookSecret(webhook?.secret),
    assumed: readAssumed(assumed),
  };
}

function refuseUnknown(options: object, known: readonly string[], prefix: string): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new ConfigurationError(`${prefix}${name}`, `is no option; there are ${known.join(', ')}`);
  }
}

function readWebhookUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConfigurationError('webhook.url', 'must be an http or https URL');
  }
  if (!isLoopbackHost(url.hostname)) {
    throw new ConfigurationError('webhook.url', 'must be on this machine (localhost or a loopback address)');
  }
  if (url.username !== '' || url.password !== '') throw new ConfigurationError('webhook.url', 'must not have a user or password');
  return url;
}

async function readWebhookSecret(secret: string = randomBytes(32).toString('hex')): Promise<string> {
  try {
    await sign('', secret);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // What no receiver of Paylink would take as its secret, the emulator does not sign with.
    throw new ConfigurationError('webhook.secret', error.message.slice(error.option.length + 1));
  }
  return secret;
}
