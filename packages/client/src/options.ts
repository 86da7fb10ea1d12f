import { check, readBound, readOptions } from '@paylink/core';
import { readAllowHttp, readBaseUrl } from './address.js';
import { readApiKey } from './api-key.js';

export interface ClientOptions {
  /** The service's address, up to and without `/v1`. https, or http to this machine or a host of `allowHttp`. */
  readonly baseUrl: string | undefined;
  /** The secret API key, `sk_live_<id>.<secret>`. From the server's configuration, never from client code. */
  readonly apiKey: string | undefined;
  /**
   * Hosts that `baseUrl` may name with `http:`, such as the emulator in another container. The API key and the answers
   * travel unencrypted. Does not count in production. Default: none.
   */
  readonly allowHttp?: readonly string[] | undefined;
  /** How the key is sent: `Authorization: Bearer`, or `X-Api-Key`. Default `bearer`. */
  readonly authentication?: 'bearer' | 'x-api-key' | undefined;
  /** Default: the global `fetch`, as it is at the time of the call. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Milliseconds for one try, from the request to the end of the reply. Default 10,000. */
  readonly timeout?: number | undefined;
  /** Tries after the first one: 0 to 3. Default 3. */
  readonly retries?: number | undefined;
  /** Milliseconds for a call as a whole, with its tries and the waits between them. Default 20,000, or `timeout` if that is more. */
  readonly deadline?: number | undefined;
}

/** The options after the checks, with the defaults. */
export type Settings = {
  readonly [Name in keyof ClientOptions]-?: NonNullable<ClientOptions[Name]>;
};

const OPTIONS = [
  'baseUrl',
  'allowHttp',
  'apiKey',
  'authentication',
  'fetch',
  'timeout',
  'retries',
  'deadline',
];

/** Checks the options and fills in the defaults. @throws ConfigurationError that names the option. */
export function readSettings(options: ClientOptions): Settings {
  const own = readOptions(options, OPTIONS);
  const { authentication = 'bearer', fetch, timeout = 10_000, retries = 3 } = own;
  check(
    authentication === 'bearer' || authentication === 'x-api-key',
    'authentication',
    "must be 'bearer' or 'x-api-key'",
  );
  check(
    typeof (fetch ?? globalThis.fetch) === 'function',
    'fetch',
    'must be a function like the global fetch',
  );
  readBound('timeout', timeout);
  const allowHttp = readAllowHttp(own.allowHttp);
  return {
    baseUrl: readBaseUrl(own.baseUrl, allowHttp),
    allowHttp,
    apiKey: readApiKey(own.apiKey),
    authentication,
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout,
    retries: readBound('retries', retries, 0, 3),
    deadline: readBound('deadline', own.deadline ?? Math.max(20_000, timeout)),
  };
}
