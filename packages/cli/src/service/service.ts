/** Connects commands to the service and prints its refusals. */
import type { Command } from 'commander';
import {
  createClient,
  isPaylinkError,
  type PaylinkClient,
  type PaylinkError,
} from '@paylink/client';
import { isLocalHost } from '../receiver/local-host.js';
import { failure, isConfigurationError, usageFailure, type Failure } from '../terminal/failure.js';
import { collect, showUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, isOfProject } from '../terminal/dotenv.js';
import {
  addApiKeyOptions,
  findEmulatorApiKey,
  findGivenApiKey,
  type ApiKeyFlags,
} from '../settings/settings.js';

export interface ServiceFlags extends ApiKeyFlags {
  readonly baseUrl?: string;
  readonly allowHttp?: readonly string[];
}

export function addServiceOptions(command: Command): Command {
  return addApiKeyOptions(
    command
      .option('--base-url <url>', 'the address of the service, without the /v1 at the end')
      .option(
        '--allow-http <host>',
        'send the key to this host without TLS, for a container on your machine (can be repeated)',
        collect,
      ),
  );
}

/** @throws Failure if the address or the key is missing or invalid */
export async function connect(flags: ServiceFlags, output: Output): Promise<PaylinkClient> {
  const baseUrl = flags.baseUrl ?? process.env[BASE_URL_VARIABLE];
  const url = URL.canParse(baseUrl ?? '') ? new URL(baseUrl!) : undefined;
  // The emulator's kept secrets are valid only for emulators.
  const isHere = url !== undefined && isLocalHost(url.hostname);
  const apiKey = await (isHere ? findEmulatorApiKey : findGivenApiKey)(flags, output);
  if (!baseUrl) {
    throw usageFailure(
      "the service's address is missing",
      `set ${BASE_URL_VARIABLE}, or give --dotenv or --base-url. paylink emulate prints one`,
    );
  }
  if (apiKey === undefined) {
    throw usageFailure(
      'no API key',
      `set ${API_KEY_VARIABLE}, or give --dotenv, --api-key-file or --api-key. paylink ` +
        'emulate prints one',
    );
  }
  const sources: Record<string, string> = {
    baseUrl: flags.baseUrl === undefined ? BASE_URL_VARIABLE : '--base-url',
    apiKey: apiKey.source,
    allowHttp: '--allow-http',
  };
  // A cloned project's .env could name any address, which would then get the key.
  if (
    url !== undefined &&
    !isHere &&
    isOfProject(sources['baseUrl']!) &&
    !isOfProject(apiKey.source)
  ) {
    throw usageFailure(
      `the key of ${apiKey.source} would go to ${showUrl(url)}, which only this folder's ` +
        '.env names',
      'if this is intended, give --base-url, or --dotenv .env',
    );
  }
  try {
    return createClient({ baseUrl, apiKey: apiKey.value, allowHttp: flags.allowHttp });
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    const problem = error.message
      .slice(error.option.length)
      .replaceAll('allowHttp', '--allow-http');
    throw usageFailure(`${sources[error.option] ?? error.option}${problem}`);
  }
}

/** Awaits the service's answer. @throws Failure with the service's answer */
export async function askService<Reply>(output: Output, call: Promise<Reply>): Promise<Reply> {
  output.progress('asking the service…');
  try {
    return await call;
  } catch (error) {
    throw isPaylinkError(error) ? explain(error, output) : error;
  }
}

/** Errors before a request is sent. */
const REFUSED_HERE = new Set([
  'invalid_link',
  'invalid_reference',
  'invalid_idempotency_key',
  'misconfigured',
]);

function explain(error: PaylinkError, output: Output): Failure {
  const { code, message, requestId, idempotencyKey, mayHaveCreated } = error;
  if (REFUSED_HERE.has(code)) return usageFailure(message);
  return failure(
    `${message} (${code})`,
    quote(error.body, output),
    requestId === undefined ? undefined : `its request id is ${requestId}`,
    mayHaveCreated && idempotencyKey !== undefined
      ? `the link may exist: retry with --idempotency-key ${idempotencyKey} to avoid a second link`
      : undefined,
  );
}

const BODY_SHOWN = 300;

/** Returns the start of the service's answer. */
function quote(body: unknown, output: Output): string | undefined {
  if (body === undefined || body === '') return undefined;
  const said = output.redact(typeof body === 'string' ? body : JSON.stringify(body));
  return `the service said: ${said.length > BODY_SHOWN ? `${said.slice(0, BODY_SHOWN)}…` : said}`;
}
