import { check, isProduction } from '@paylink/core';

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or ::1. The URL parser has normalised it. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a URL may be `http:`: its host is this machine, or one that `allowHttp` names. */
export function mayBeHttp(url: URL, allowHttp: readonly string[]): boolean {
  return isLoopback(url) || allowHttp.includes(url.hostname);
}

/** Reads the names of hosts. @throws ConfigurationError */
export function readAllowHttp(allowHttp: unknown): readonly string[] {
  if (allowHttp === undefined) return [];
  const isName = (name: unknown): name is string =>
    typeof name === 'string' &&
    URL.canParse(`http://${name}`) &&
    new URL(`http://${name}`).hostname === name;
  check(
    Array.isArray(allowHttp) && allowHttp.every(isName),
    'allowHttp',
    "must be a list of host names in lower case without ports, such as ['emulator']",
  );
  return [...allowHttp];
}

/** Checks the service's address and removes slashes at its end. @throws ConfigurationError */
export function readBaseUrl(baseUrl: unknown, allowHttp: readonly string[] = []): string {
  check(
    baseUrl !== undefined && baseUrl !== null && baseUrl !== '',
    'baseUrl',
    'is missing: is its environment variable set?',
  );
  check(typeof baseUrl === 'string', 'baseUrl', 'must be a string');
  check(
    baseUrl.trim() === baseUrl,
    'baseUrl',
    'must not start or end with whitespace: remove it where it is stored',
  );
  check(
    /^https?:\/\//i.test(baseUrl) && URL.canParse(baseUrl),
    'baseUrl',
    'must be an absolute URL, such as https://host/api',
  );
  const url = new URL(baseUrl);
  check(
    url.username === '' && url.password === '',
    'baseUrl',
    'must not have a user or a password',
  );
  check(
    !baseUrl.includes('?') && !baseUrl.includes('#'),
    'baseUrl',
    'must not have a query or a fragment',
  );
  check(
    url.protocol === 'https:' || mayBeHttp(url, allowHttp),
    'baseUrl',
    'must be https, because the client sends the API key there. http is for localhost, 127.0.0.0/8 ' +
      'and [::1], and outside production for the hosts of allowHttp',
  );
  check(
    url.protocol === 'https:' || isLoopback(url) || !isProduction(),
    'baseUrl',
    'must be https in production: allowHttp does not count if NODE_ENV is production',
  );
  const address = url.origin + url.pathname.replace(/\/+$/, '');
  check(!address.endsWith('/v1'), 'baseUrl', 'must end before /v1, which is added to it');
  return address;
}
