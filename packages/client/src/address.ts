import { check } from '@paylink/core';

/** Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or ::1. The URL parser has normalised it. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Checks the service's address and removes slashes at its end. @throws ConfigurationError */
export function readBaseUrl(baseUrl: unknown): string {
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
    url.protocol === 'https:' || isLoopback(url),
    'baseUrl',
    'must be https, since the API key is sent there. http is allowed to localhost, 127.0.0.0/8 or [::1]',
  );
  const address = url.origin + url.pathname.replace(/\/+$/, '');
  check(!address.endsWith('/v1'), 'baseUrl', 'must end before /v1, which is added to it');
  return address;
}
