import { Command } from 'commander';
import { isLocalHost } from '../receiver/local-host.js';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { EXIT, failure, usageFailure, type Failure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { wholeNumber } from '../terminal/input.js';
import { KEPT_SECRETS } from '../settings/kept-secrets.js';
import { text } from '../terminal/safe-text.js';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from '../terminal/dotenv.js';
import {
  addApiKeyOptions,
  API_ENVIRONMENT,
  findEmulatorApiKey,
  type ApiKeyFlags,
} from '../settings/settings.js';

interface Flags extends CommonFlags, ApiKeyFlags {
  readonly baseUrl?: string;
  readonly amount?: number;
}

type Verb = 'pay' | 'fail' | 'cancel';

const SUMMARIES: Readonly<Record<Verb, string>> = {
  pay: 'pay a payment of a running emulator',
  fail: 'let a payment of a running emulator fail',
  cancel: 'cancel a payment of a running emulator',
};

const DEFAULT_BASE_URL = 'http://127.0.0.1:4010/api';
const TIMEOUT = 10_000;

export const payCommand = (): Command =>
  settleCommand('pay').option(
    '--amount <amount>',
    'the amount for a free-amount link (default: its lower bound)',
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
  );
export const failCommand = (): Command => settleCommand('fail');
export const cancelCommand = (): Command => settleCommand('cancel');

/** `paylink pay|fail|cancel`: acts as the customer on an emulator on this machine. */
function settleCommand(verb: Verb): Command {
  const command = new Command(verb)
    .summary(SUMMARIES[verb])
    .description(
      'Acts as the customer on the payment page of an emulator on this machine (paylink ' +
        'emulate). ' +
        `Reads the API key from the environment, from .env or from ${KEPT_SECRETS}. The ` +
        'service itself does not offer this call.',
    )
    .argument('<reference>', "the link's reference")
    .option(
      '--base-url <url>',
      `the API of the emulator (default: ${BASE_URL_VARIABLE}, else ${DEFAULT_BASE_URL})`,
    );
  addApiKeyOptions(command);
  runs<Flags>(command, (run) => settle(verb, run));
  return teach(command, {
    examples: [
      [`paylink ${verb} order-42`, 'the payment of an order'],
      [`paylink ${verb} order-42 --json`, 'for programs'],
    ],
    environment: API_ENVIRONMENT,
    exitCodes: [
      [0, 'done'],
      [1, 'the payment cannot get this status, or no emulator answered'],
      USAGE_EXIT,
    ],
  });
}

async function settle(
  verb: Verb,
  { flags, args: [reference = ''], output }: Run<Flags>,
): Promise<number> {
  const baseUrl = flags.baseUrl ?? process.env[BASE_URL_VARIABLE] ?? '';
  const url = controlUrl(baseUrl === '' ? DEFAULT_BASE_URL : baseUrl, verb);
  const apiKey = (await findEmulatorApiKey(flags, output))?.value;
  if (apiKey === undefined) {
    throw usageFailure(
      'no API key for the emulator',
      `run this where paylink emulate runs (the key is in ${KEPT_SECRETS}), or set ` +
        API_KEY_VARIABLE,
    );
  }
  const { status, body } = await post(url, apiKey, { reference, amount: flags.amount });
  if (status !== 200) throw explain(status, body);
  const payment = body as {
    readonly reference: string;
    readonly status: string;
    readonly amount?: number;
    readonly currency: string;
  };
  const amount = payment.amount === undefined ? '' : `, ${payment.amount} ${payment.currency}`;
  output.line(text`${payment.reference}: ${output.paint.bold(payment.status)}${amount}`);
  output.document(payment);
  return EXIT.ok;
}

/** @throws Failure unless the address is an emulator on this machine */
function controlUrl(baseUrl: string, verb: Verb): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHere = url !== undefined && isLocalHost(url.hostname);
  if (!isHere || url.protocol !== 'http:' || !/\/api\/?$/.test(url.pathname)) {
    throw usageFailure(
      `the base URL must be an emulator on this machine, such as ${DEFAULT_BASE_URL}`,
      'only an emulator lets you act for the customer. paylink emulate prints its address',
    );
  }
  return new URL(`/control/${verb}`, url);
}

async function post(
  url: URL,
  apiKey: string,
  fields: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(fields),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT),
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch {
    throw failure(
      `no emulator answers at ${url.origin}`,
      'paylink emulate starts one; --base-url names another address',
    );
  }
}

function explain(status: number, body: unknown): Failure {
  const { code, message } =
    (body as { error?: { code?: string; message?: string } } | undefined)?.error ?? {};
  if (code === undefined)
    return failure(`the server answered ${status}: is it an emulator of this version?`);
  const hint =
    code === 'unauthorized'
      ? `the emulator runs with another API key than the kept key in ${KEPT_SECRETS}`
      : undefined;
  return failure(`${message} (${code})`, hint);
}
