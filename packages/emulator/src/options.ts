import { randomBytes } from 'node:crypto';
import { ConfigurationError, sign } from '@paylink/core';
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { generateApiKey, hasKeyForm } from './api/authentication.js';
import type { ApiRequest } from './api/observed-request.js';
import type { AssumedOptions } from './contract/assumed.js';
import { createAssumed } from './contract/validate-assumed.js';
import type { DeliveryAttempt, EmulatorDelivery } from './deliveries/delivery.js';
import { isLoopbackHost } from './server/loopback.js';
import { parseAllowedHosts, parseTarget } from './server/target.js';

export interface EmulatorOptions {
  /** Default: any free port. */
  readonly port?: number | undefined;
  /** `localhost` or a loopback address, unless `allowRemote` is true. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /**
   * The origin of pay pages and the dashboard in the browser, such as `http://localhost:4010` for
   * a published container port. Default: the listening address.
   */
  readonly payUrl?: string | undefined;
  /** The merchant's name on the pay pages. Default none. */
  readonly merchant?: string | undefined;
  /** `sk_live_<id>.<secret>`. Default: a generated key, available as `emulator.apiKey`. */
  readonly apiKey?: string | undefined;
  readonly webhook?:
    | {
        /**
         * The webhook's http or https URL, on this machine or on one of `allowHosts`. Without it,
         * the emulator does not send notifications.
         */
        readonly url?: string | undefined;
        /** Default: a generated secret, available as `emulator.webhookSecret`. */
        readonly secret?: string | undefined;
      }
    | undefined;
  /**
   * Allows a `host` that other machines can reach. Any of them can then mark payments as paid.
   * Default false.
   */
  readonly allowRemote?: boolean | undefined;
  /** Names or addresses of other machines that can receive notifications. Default none. */
  readonly allowHosts?: readonly string[] | undefined;
  /** Called after each API request, even a rejected one. Its errors are logged. */
  readonly onRequest?: ((request: ApiRequest) => void) | undefined;
  /** Called after each delivery attempt. Its errors are logged. */
  readonly onAttempt?: ((delivery: EmulatorDelivery, attempt: DeliveryAttempt) => void) | undefined;
  /** The emulator's choices for points that the contract leaves open. */
  readonly assumed?: AssumedOptions | undefined;
}

export type Settings = Readonly<Awaited<ReturnType<typeof createSettings>>>;

const OPTIONS =
  'port host payUrl merchant apiKey webhook allowRemote allowHosts onRequest onAttempt assumed'.split(
    ' ',
  );
const MERCHANT_LENGTH = 100;
const noop = (): void => undefined;

/**
 * Checks the options and fills in the defaults. @throws ConfigurationError with the option's name
 */
export async function createSettings(options: EmulatorOptions) {
  const own = validateOptions(options, OPTIONS);
  const webhook = validateOptions(own.webhook ?? {}, ['url', 'secret'], 'webhook');
  const { port = 0, host = '127.0.0.1', allowRemote = false, payUrl, merchant } = own;
  const { apiKey = generateApiKey(), onRequest = noop, onAttempt = noop } = own;
  const { secret = randomBytes(32).toString('hex') } = webhook;
  validateBound('port', port, 0, 65_535);
  check(typeof allowRemote === 'boolean', 'allowRemote', 'must be true or false');
  const isHost = typeof host === 'string' && host !== '' && (allowRemote || isLoopbackHost(host));
  check(
    isHost,
    'host',
    'must be localhost or a loopback address, unless allowRemote is true: any machine ' +
      'that reaches the emulator can mark payments as paid',
  );
  check(hasKeyForm(apiKey), 'apiKey', 'must have the form sk_live_<id>.<secret>');
  const isName =
    typeof merchant === 'string' && merchant.trim() !== '' && merchant.length <= MERCHANT_LENGTH;
  check(merchant === undefined || isName, 'merchant', `must be 1 to ${MERCHANT_LENGTH} characters`);
  check(typeof onRequest === 'function', 'onRequest', 'must be a function');
  check(typeof onAttempt === 'function', 'onAttempt', 'must be a function');
  const allowed = parseAllowedHosts(own.allowHosts);
  return {
    port,
    host,
    payUrl: payUrl === undefined ? undefined : parseOrigin(payUrl),
    merchant,
    allowRemote,
    apiKey,
    target:
      webhook.url === undefined ? undefined : parseTarget('webhook.url', webhook.url, allowed),
    webhookSecret: await validateSecret(secret),
    onRequest,
    onAttempt,
    assumed: createAssumed(own.assumed),
  };
}

function parseOrigin(payUrl: unknown): string {
  if (typeof payUrl === 'string' && /^https?:/.test(payUrl) && URL.canParse(payUrl)) {
    const { origin, href } = new URL(payUrl);
    if (href === `${origin}/`) return origin;
  }
  throw new ConfigurationError('payUrl', 'must be an origin, such as http://localhost:4010');
}

/** @throws ConfigurationError for any secret that Paylink's receivers reject */
async function validateSecret(secret: string): Promise<string> {
  try {
    await sign('', secret);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError('webhook.secret', error.message.slice(error.option.length + 1));
  }
  return secret;
}
