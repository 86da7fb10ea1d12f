import type { Emulator } from '@paylink/emulator';
import { Option, type Command } from 'commander';
import { isLocalHost } from '../receiver/local-host.js';
import { KEPT_SECRETS } from '../settings/kept-secrets.js';
import {
  API_KEY_OPTIONS,
  findApiKey,
  keptSetting,
  type ApiKeyFlags,
} from '../settings/settings.js';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from '../terminal/dotenv.js';
import { EXIT, failure, usageFailure } from '../terminal/failure.js';
import { wholeNumber } from '../terminal/input.js';
import { text } from '../terminal/safe-text.js';

interface Flags extends CommonFlags, ApiKeyFlags {
  readonly baseUrl?: string;
  readonly amount?: number;
}

type Verb = 'pay' | 'fail' | 'cancel';

const DEFAULT_BASE_URL = 'http://127.0.0.1:4010/api';
const TIMEOUT = 10_000;

const AMOUNT_OPTION = new Option(
  '--amount <amount>',
  'for a free-amount link (default: the lowest)',
).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER));

export const payCommand = (): Command =>
  createActCommand('pay', 'complete a payment on a running emulator').addOption(AMOUNT_OPTION);
export const failCommand = (): Command =>
  createActCommand('fail', 'make a payment on a running emulator fail');
export const cancelCommand = (): Command =>
  createActCommand('cancel', 'cancel a payment on a running emulator');

/** `paylink pay|fail|cancel`: acts as the customer on an emulator on this machine. */
function createActCommand(verb: Verb, summary: string): Command {
  return createCommand<Flags>(verb, {
    summary,
    description:
      'Acts as the customer on the payment page of an emulator on this machine (paylink ' +
      'emulate). The service itself does not offer this call.',
    argument: ['<reference>', "the link's reference"],
    options: [
      new Option(
        '--base-url <url>',
        `the emulator (default: ${BASE_URL_VARIABLE}, else ${DEFAULT_BASE_URL})`,
      ),
      ...API_KEY_OPTIONS,
    ],
    examples: [`paylink ${verb} order-42`],
    run: (run) => act(verb, run),
  });
}

async function act(verb: Verb, { flags, argument, output }: Invocation<Flags>): Promise<number> {
  const { baseUrl = process.env[BASE_URL_VARIABLE] ?? DEFAULT_BASE_URL } = flags;
  const url = controlUrl(baseUrl, verb);
  const apiKey = (await findApiKey(flags, output)) ?? keptSetting('apiKey', output);
  if (apiKey === undefined)
    throw usageFailure(
      'no API key for the emulator',
      `run this where paylink emulate runs (the key is in ${KEPT_SECRETS}), or set ` +
        API_KEY_VARIABLE,
    );
  const body = { reference: argument, amount: flags.amount };
  const payment = await tell(url, apiKey.value, body);
  const amount = payment.amount === undefined ? '' : `, ${payment.amount} ${payment.currency}`;
  output.line(text`${payment.reference}: ${output.paint.bold(payment.status)}${amount}`);
  output.document(payment);
  return EXIT.ok;
}

/** @throws Failure unless the address is an emulator on this machine */
function controlUrl(baseUrl: string, verb: Verb): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHere = url?.protocol === 'http:' && isLocalHost(url.hostname);
  if (isHere && /\/api\/?$/.test(url.pathname)) return new URL(`/control/${verb}`, url);
  throw usageFailure(
    `the base URL must be an emulator on this machine, such as ${DEFAULT_BASE_URL}`,
    'only an emulator lets you act as the customer. paylink emulate prints its address',
  );
}

type Payment = Awaited<ReturnType<Emulator['pay']>>;

/** @throws Failure with the emulator's error */
async function tell(url: URL, apiKey: string, fields: object): Promise<Payment> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch(() => {
    throw failure(
      `no emulator answers at ${url.origin}`,
      'start one with npx --no-install paylink emulate, or pass its address with --base-url',
    );
  });
  const body = (await response.json().catch(() => ({}))) as Payment & {
    readonly error?: { readonly code: string; readonly message: string };
  };
  if (response.status === 200) return body;
  const { error } = body;
  throw failure(
    error === undefined
      ? `the server answered ${response.status}: is it an emulator of this version?`
      : `${error.message} (${error.code})`,
    response.status === 401
      ? `the emulator at ${url.origin} uses a different key. If it belongs to another project, ` +
          'start yours on another port (paylink emulate --port) and pass --base-url'
      : undefined,
  );
}
