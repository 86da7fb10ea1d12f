import { ConfigurationError, sign } from '@paylink/core';
import { validateOptions } from '@paylink/core/internal';
import { readAssumed, type Assumed, type AssumedOptions } from './assumed.js';
import { generateApiKey, isApiKey } from './api/authentication.js';
import { validateDisturbance, type Disturbance } from './deliveries/disturbances.js';
import { createRandom, type Random } from './random.js';
import { isLoopbackHost } from './server/loopback.js';
import { readAllowedHosts, readTarget, type Target } from './server/target.js';

export interface EmulatorOptions {
  /**
   * Default: any free port. With `false`, the emulator does not listen, and only `fetch` answers.
   */
  readonly port?: number | false | undefined;
  /** `localhost` or a loopback address, unless `allowRemote`. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /**
   * The browser's origin for pay pages and the dashboard, such as `http://localhost:4010` for a
   * published container port. Default: the listening address.
   */
  readonly payUrl?: string | undefined;
  /** `sk_live_<id>.<secret>`. Default: a new key, in `emulator.apiKey`. */
  readonly apiKey?: string | undefined;
  readonly webhook?:
    | {
        /**
         * The webhook address: http or https on this machine, or on one of `allowHosts`. Without a
         * URL, the emulator sends no notifications.
         */
        readonly url?: string | undefined;
        /** Default: a new secret, in `emulator.webhookSecret`. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /**
   * Allows an address that other machines reach. Each of them can then mark payments as paid.
   * Default false.
   */
  readonly allowRemote?: boolean | undefined;
  /** Names or addresses of other machines that may receive notifications. Default none. */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * Drops, delays or reorders notifications from the start, as `emulator.disturb` does. Default:
   * none.
   */
  readonly disturb?: Disturbance | undefined;
  /**
   * Repeats tokens, ids, generated secrets and retry delays in every run. Seeded secrets can be
   * predicted: for tests only. Default: unpredictable.
   */
  readonly seed?: string | number | undefined;
  /**
   * A file that keeps links, payments and notifications through a restart or a kill. Requests and
   * disturbances are not kept. Only one emulator can use the file. Default: memory only.
   */
  readonly state?: string | undefined;
  /** The emulator's choices in open points of the contract. */
  readonly assumed?: AssumedOptions | undefined;
}

export interface Settings {
  readonly port: number | false;
  readonly host: string;
  readonly payUrl: string | undefined;
  readonly allowRemote: boolean;
  readonly apiKey: string;
  readonly allowHosts: readonly string[];
  readonly target: Target | undefined;
  readonly webhookSecret: string;
  readonly disturb: Disturbance | undefined;
  readonly random: Random;
  readonly state: string | undefined;
  readonly assumed: Assumed;
}

const OPTIONS = [
  'port',
  'host',
  'payUrl',
  'apiKey',
  'webhook',
  'allowRemote',
  'allowHosts',
  'disturb',
  'seed',
  'state',
  'assumed',
];

/**
 * Checks the options and fills in the defaults. @throws ConfigurationError that names the option
 */
export async function readOptions(options: EmulatorOptions): Promise<Settings> {
  const own = validateOptions(options, OPTIONS);
  const webhook = validateOptions(own.webhook ?? {}, ['url', 'secret'], 'webhook');
  const random = createRandom(readSeed(own.seed));
  const {
    port = 0,
    host = '127.0.0.1',
    apiKey = generateApiKey(random),
    assumed,
    allowRemote = false,
    disturb,
  } = own;
  if (port !== false && !isPort(port)) {
    throw new ConfigurationError('port', 'must be a whole number from 0 to 65535, or false');
  }
  if (typeof allowRemote !== 'boolean')
    throw new ConfigurationError('allowRemote', 'must be true or false');
  const allowHosts = readAllowedHosts(own.allowHosts);
  if (typeof host !== 'string' || host === '' || !(allowRemote || isLoopbackHost(host))) {
    throw new ConfigurationError(
      'host',
      'must be localhost or a loopback address, unless allowRemote is true: each machine ' +
        'that reaches the emulator can mark payments as paid',
    );
  }
  if (!isApiKey(apiKey))
    throw new ConfigurationError('apiKey', 'must have the form sk_live_<id>.<secret>');
  return {
    port,
    host,
    payUrl: readPayUrl(own.payUrl),
    allowRemote,
    apiKey,
    allowHosts,
    target:
      webhook.url === undefined ? undefined : readTarget('webhook.url', webhook.url, allowHosts),
    webhookSecret: await readWebhookSecret(
      webhook.secret ?? random.bytes('webhook secret', 32).toString('hex'),
    ),
    disturb: disturb === undefined ? undefined : validateDisturbance(disturb),
    random,
    state: readState(own.state),
    assumed: readAssumed(assumed),
  };
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
}

function readPayUrl(payUrl: unknown): string | undefined {
  if (payUrl === undefined) return undefined;
  if (typeof payUrl === 'string' && /^https?:/.test(payUrl) && URL.canParse(payUrl)) {
    const { origin, href } = new URL(payUrl);
    if (href === `${origin}/`) return origin;
  }
  throw new ConfigurationError('payUrl', 'must be an origin, such as http://localhost:4010');
}

function readState(state: unknown): string | undefined {
  if (state === undefined || (typeof state === 'string' && state !== '')) return state;
  throw new ConfigurationError('state', 'must be the path of a file');
}

function readSeed(seed: unknown): string | number | undefined {
  if (seed === undefined || typeof seed === 'string' || Number.isFinite(seed))
    return seed as string | number | undefined;
  throw new ConfigurationError('seed', 'must be a string or a number');
}

async function readWebhookSecret(secret: string): Promise<string> {
  try {
    await sign('', secret);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // The emulator rejects each secret that Paylink's receivers reject.
    throw new ConfigurationError('webhook.secret', error.message.slice(error.option.length + 1));
  }
  return secret;
}
