import { randomBytes } from 'node:crypto';
import { ConfigurationError, sign } from '@paylink/core';
import { readAssumed, type Assumed, type AssumedOptions } from './assumed.js';
import { generateApiKey, isApiKey } from './api/authentication.js';
import type { Target } from './deliveries/attempt.js';
import { checkDisturbance, type Disturbance } from './deliveries/disturbances.js';
import { isLoopbackHost, lookupLoopback } from './server/loopback.js';

export interface EmulatorOptions {
  /** Default: any free port. With `false` nothing listens: only `fetch` answers. */
  readonly port?: number | false | undefined;
  /** `localhost` or a loopback address, unless `allowRemote`. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** `sk_live_<id>.<secret>`. Default: a new one, given back as `apiKey`. */
  readonly apiKey?: string | undefined;
  readonly webhook?:
    | {
        /** Where notifications go: http or https on this machine, or on one of `allowHosts`. Without it none are sent. */
        readonly url?: string | undefined;
        /** Default: a new one, given back as `webhookSecret`. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /** Lets it listen where other machines reach it: whoever does can mark payments as paid. Default false. */
  readonly allowRemote?: boolean | undefined;
  /** Names or addresses of other machines that notifications may go to. Default none. */
  readonly allowHosts?: readonly string[] | undefined;
  /** What happens to notifications from the start, as by `emulator.disturb`. Default nothing. */
  readonly disturb?: Disturbance | undefined;
  /** What the contract leaves open: each choice of the emulator's is a switch here. */
  readonly assumed?: AssumedOptions | undefined;
}

export interface Settings {
  readonly port: number | false;
  readonly host: string;
  readonly allowRemote: boolean;
  readonly apiKey: string;
  readonly target: Target | undefined;
  readonly webhookSecret: string;
  readonly disturb: Disturbance | undefined;
  readonly assumed: Assumed;
}

/** Checks the options and fills in the defaults. @throws ConfigurationError that names the option. */
export async function readOptions(options: EmulatorOptions): Promise<Settings> {
  refuseUnknown(options, ['port', 'host', 'apiKey', 'webhook', 'allowRemote', 'allowHosts', 'disturb', 'assumed'], '');
  refuseUnknown(options.webhook ?? {}, ['url', 'secret'], 'webhook.');
  const { port = 0, host = '127.0.0.1', apiKey = generateApiKey(), webhook, assumed, allowRemote = false, disturb } = options;
  if (port !== false && !isPort(port)) {
    throw new ConfigurationError('port', 'must be a whole number from 0 to 65535, or false');
  }
  if (typeof allowRemote !== 'boolean') throw new ConfigurationError('allowRemote', 'must be true or false');
  if (disturb !== undefined) checkDisturbance(disturb);
  const allowHosts = readHosts(options.allowHosts);
  if (typeof host !== 'string' || host === '' || !(allowRemote || isLoopbackHost(host))) {
    throw new ConfigurationError(
      'host',
      'must be localhost or a loopback address: whoever reaches the emulator can mark a payment as paid, so it stays on this machine unless allowRemote is true',
    );
  }
  if (!isApiKey(apiKey)) throw new ConfigurationError('apiKey', 'must have the form sk_live_<id>.<secret>');
  return {
    port,
    host,
    allowRemote,
    apiKey,
    target: webhook?.url === undefined ? undefined : readTarget(webhook.url, allowHosts),
    webhookSecret: await readWebhookSecret(webhook?.secret),
    disturb,
    assumed: readAssumed(assumed),
  };
}

function refuseUnknown(options: object, known: readonly string[], prefix: string): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new ConfigurationError(`${prefix}${name}`, `is no option; there are ${known.join(', ')}`);
  }
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
}

/** As URLs write them, so that they can be compared with one. */
function readHosts(hosts: readonly string[] = []): readonly string[] {
  if (!Array.isArray(hosts)) throw new ConfigurationError('allowHosts', 'must be a list of host names or addresses');
  return hosts.map((host: unknown) => {
    const url = typeof host === 'string' && URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
    // Anything but a host, a port included, would look allowed and not be.
    if (url?.href !== `http://${url?.hostname ?? ''}/` || /[/?#@]|:\d*$/.test(host as string)) {
      throw new ConfigurationError('allowHosts', 'must be host names or addresses alone, as "staging.example" or "[fd00::1]"');
    }
    return url.hostname;
  });
}

function readTarget(text: string, allowed: readonly string[]): Target {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConfigurationError('webhook.url', 'must be an http or https URL');
  }
  const isAllowed = allowed.includes(url.hostname);
  if (!isAllowed && !isLoopbackHost(url.hostname)) {
    throw new ConfigurationError(
      'webhook.url',
      'must be on this machine (localhost or a loopback address), unless allowHosts names its host',
    );
  }
  if (url.username !== '' || url.password !== '') throw new ConfigurationError('webhook.url', 'must not have a user or password');
  return { url, lookup: isAllowed ? undefined : lookupLoopback };
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
