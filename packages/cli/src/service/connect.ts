/** Connects commands to the service and prints its errors. */
import { Option } from 'commander';
import type { PaylinkClient } from '@paylink/client';
import { isLocalHost } from '../receiver/local-host.js';
import {
  API_KEY_OPTIONS,
  findApiKey,
  keptSetting,
  type ApiKeyFlags,
} from '../settings/settings.js';
import type { CommonFlags } from '../terminal/command.js';
import { API_KEY_VARIABLE, BASE_URL_VARIABLE, isOfProject } from '../terminal/dotenv.js';
import { failure, isConfigurationError, usageFailure } from '../terminal/failure.js';
import { collect, showUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';

export interface ServiceFlags extends CommonFlags, ApiKeyFlags {
  readonly baseUrl?: string;
  readonly allowHttp?: readonly string[];
}

export const SERVICE_OPTIONS = [
  new Option('--base-url <url>', `the service, ending before /v1 (default: ${BASE_URL_VARIABLE})`),
  new Option(
    '--allow-http <host>',
    'send the key to this host without TLS, for a container on your machine (can be repeated)',
  ).argParser(collect),
  ...API_KEY_OPTIONS,
];

/** @throws Failure if the address or the key is missing or invalid */
export async function connect(flags: ServiceFlags, output: Output): Promise<PaylinkClient> {
  const baseUrl = flags.baseUrl ?? process.env[BASE_URL_VARIABLE];
  const fix = 'or pass --dotenv. paylink emulate prints both lines for .env';
  if (!baseUrl) throw usageFailure('no service address', `set ${BASE_URL_VARIABLE}, ${fix}`);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHere = url !== undefined && isLocalHost(url.hostname);
  const kept = isHere ? keptSetting('apiKey', output) : undefined;
  const apiKey = (await findApiKey(flags, output)) ?? kept;
  if (apiKey === undefined) throw usageFailure('no API key', `set ${API_KEY_VARIABLE}, ${fix}`);
  const source = flags.baseUrl === undefined ? BASE_URL_VARIABLE : '--base-url';
  // A cloned project's .env could name any address, which would then get the key.
  if (url !== undefined && !isHere && isOfProject(source) && !isOfProject(apiKey.source)) {
    throw usageFailure(
      `the key from ${apiKey.source} would go to ${showUrl(url)}, which comes only from this ` +
        "folder's .env",
      'if this is intended, pass --base-url, or --dotenv .env',
    );
  }
  const { createClient } = await import('@paylink/client');
  try {
    return createClient({ baseUrl, apiKey: apiKey.value, allowHttp: flags.allowHttp });
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    const sources: Record<string, string> = { baseUrl: source, apiKey: apiKey.source };
    const problem = error.message
      .slice(error.option.length)
      .replaceAll('allowHttp', '--allow-http');
    throw usageFailure(`${sources[error.option] ?? '--allow-http'}${problem}`);
  }
}

/** Errors before a request is sent. */
const REFUSED_HERE = ['invalid_link', 'invalid_reference', 'invalid_idempotency_key'];

/** Rethrows the service's error as a failure that quotes its response. */
export async function rethrow(error: unknown, output: Output): Promise<never> {
  const { isPaylinkError } = await import('@paylink/client');
  if (!isPaylinkError(error)) throw error;
  const { code, message, requestId, idempotencyKey, mayHaveCreated, body = '' } = error;
  if (REFUSED_HERE.includes(code)) throw usageFailure(message);
  const said = output.excerpt(typeof body === 'string' ? body : JSON.stringify(body));
  throw failure(
    `${message} (${code})`,
    said === '' ? undefined : `the service said: ${said}`,
    requestId === undefined ? undefined : `its request id is ${requestId}`,
    mayHaveCreated && idempotencyKey !== undefined
      ? `the link may exist: retry with --idempotency-key ${idempotencyKey} to avoid a second link`
      : undefined,
  );
}
