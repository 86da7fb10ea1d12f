import { check, isProduction, validateBound, validateOptions } from '@paylink/core/internal';

/** The options of `createClient`. */
export interface ClientOptions {
  /** The address before `/v1`: https, or http for this machine and the hosts in `allowHttp`. */
  readonly baseUrl: string | undefined;
  /** The secret API key, `sk_live_<id>.<secret>`, from the server's configuration. */
  readonly apiKey: string | undefined;
  /**
   * Hosts that `baseUrl` is allowed to reach over unencrypted http, such as the emulator in
   * another container. Ignored in production. Default: none.
   */
  readonly allowHttp?: readonly string[] | undefined;
  /** The header for the key: `Authorization: Bearer`, or `X-Api-Key`. Default `bearer`. */
  readonly authentication?: 'bearer' | 'x-api-key' | undefined;
  /** Sends the requests. Default: the global `fetch` at the time of the call. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Milliseconds for one attempt, from the request to the end of the response. Default 10,000. */
  readonly timeout?: number | undefined;
  /** Number of attempts after the first one, 0 to 3. Default 3. */
  readonly retries?: number | undefined;
  /** Milliseconds for all attempts and waits. Default 20,000, or `timeout` if larger. */
  readonly totalTimeout?: number | undefined;
}

export type Settings = {
  readonly [Name in keyof ClientOptions]-?: NonNullable<ClientOptions[Name]>;
};

const OPTIONS = 'baseUrl allowHttp apiKey authentication fetch timeout retries totalTimeout'.split(
  ' ',
);

/**
 * Validates the options and fills in the defaults.
 *
 * @throws ConfigurationError that names the option
 */
export function createSettings(options: ClientOptions): Settings {
  const own = validateOptions(options, OPTIONS);
  const { authentication = 'bearer', fetch, timeout = 10_000, retries = 3 } = own;
  const isKnown = authentication === 'bearer' || authentication === 'x-api-key';
  check(isKnown, 'authentication', "must be 'bearer' or 'x-api-key'");
  const isFetch = typeof (fetch ?? globalThis.fetch) === 'function';
  check(isFetch, 'fetch', 'must be a function like the global fetch');
  const allowHttp = validateAllowHttp(own.allowHttp);
  return {
    baseUrl: parseBaseUrl(own.baseUrl, allowHttp),
    allowHttp,
    apiKey: validateApiKey(own.apiKey),
    authentication,
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout: validateBound('timeout', timeout),
    retries: validateBound('retries', retries, 0, 3),
    totalTimeout: validateBound('totalTimeout', own.totalTimeout ?? Math.max(20_000, timeout)),
  };
}

/** Reads a text from the environment. Repairs nothing. */
function validateText(option: 'baseUrl' | 'apiKey', text: unknown): string {
  const isMissing = text === undefined || text === null || text === '';
  const variable = option === 'apiKey' ? 'PAYLINK_API_KEY' : 'PAYLINK_BASE_URL';
  check(!isMissing, option, `is missing. Did you set its environment variable, ${variable}?`);
  check(typeof text === 'string', option, 'must be a string');
  check(text.trim() !== '', option, 'is blank');
  const problem = 'must not start or end with whitespace: remove it from the stored value';
  check(text.trim() === text, option, problem);
  return text;
}

/**
 * Checks the form in docs/service.md 5.1: `sk_live_`, an identifier, a dot, a secret. The contract
 * shows only live keys. Accepts `sk_<another word>_` too, because test keys may have that form.
 */
function validateApiKey(value: unknown): string {
  const apiKey = validateText('apiKey', value);
  check(!/^bearer /i.test(apiKey), 'apiKey', 'must be only the key: the client adds "Bearer"');
  const form = 'must have the form sk_live_<id>.<secret>';
  const isKey = apiKey.startsWith('sk_');
  check(isKey, 'apiKey', `${form}. Did you pass the webhook secret?`);
  const isWhole = /^sk_[a-z]+_[\x21-\x2d\x2f-\x7e]+\.[\x21-\x7e]+$/.test(apiKey);
  check(isWhole, 'apiKey', `${form}. Did you copy the whole key?`);
  return apiKey;
}

function validateAllowHttp(allowHttp: unknown): readonly string[] {
  if (allowHttp === undefined) return [];
  const isName = (name: unknown): name is string =>
    typeof name === 'string' &&
    URL.canParse(`http://${name}`) &&
    new URL(`http://${name}`).hostname === name;
  const problem = "must be a list of host names in lower case without ports, such as ['emulator']";
  check(Array.isArray(allowHttp) && allowHttp.every(isName), 'allowHttp', problem);
  return [...allowHttp];
}

/** Returns the address without slashes at its end. */
function parseBaseUrl(value: unknown, allowHttp: readonly string[]): string {
  const baseUrl = validateText('baseUrl', value);
  const isUrl = /^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl);
  check(isUrl, 'baseUrl', 'must be an absolute URL, such as https://host/api');
  const url = new URL(baseUrl);
  const hasUser = url.username !== '' || url.password !== '';
  check(!hasUser, 'baseUrl', 'must not have a user or a password');
  check(!/[?#]/.test(baseUrl), 'baseUrl', 'must not have a query or a fragment');
  if (url.protocol === 'http:') {
    const problem =
      'must be https, because the client sends the API key there. http is allowed for localhost, ' +
      '127.0.0.0/8 and [::1], and outside production for the hosts in allowHttp';
    check(mayBeHttp(url, allowHttp), 'baseUrl', problem);
    const inProduction =
      'must be https in production: the client ignores allowHttp if NODE_ENV is production';
    check(isLoopback(url) || !isProduction(), 'baseUrl', inProduction);
  }
  const address = url.origin + url.pathname.replace(/\/+$/, '');
  check(!address.endsWith('/v1'), 'baseUrl', 'must end before /v1, because the client adds /v1');
  return address;
}

export function mayBeHttp(url: URL, allowHttp: readonly string[]): boolean {
  return isLoopback(url) || allowHttp.includes(url.hostname);
}

// The URL parser has normalised the host.
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
