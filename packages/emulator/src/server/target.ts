import type { LookupFunction } from 'node:net';
import { check } from '@paylink/core/internal';
import { isLoopbackHost, lookupLoopback } from './loopback.js';

/** The target of notifications. */
export interface WebhookTarget {
  readonly url: URL;
  /** Resolves the host's name and rejects other machines. Undefined for an allowed host. */
  readonly lookup: LookupFunction | undefined;
}

/** Reads `allowHosts`, spelled as in URLs. @throws ConfigurationError */
export function parseAllowedHosts(hosts: readonly string[] = []): readonly string[] {
  check(Array.isArray(hosts), 'allowHosts', 'must be a list of host names or addresses');
  return hosts.map((host: unknown) => {
    const url = parseUrl(`http://${String(host)}`);
    // An entry with a port or a path would never match.
    const isBare = url?.href === `http://${url?.hostname}/` && !/[/?#@]|:\d*$/.test(String(host));
    const problem =
      'must be bare host names or addresses, such as "staging.example" or "[fd00::1]"';
    check(typeof host === 'string' && isBare, 'allowHosts', problem);
    return url.hostname;
  });
}

/**
 * Parses a URL for notifications, on this machine or an allowed host.
 *
 * @throws ConfigurationError with the name in `option`
 */
export function parseTarget(
  option: string,
  text: string,
  allowed: readonly string[],
): WebhookTarget {
  const url = parseUrl(text);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  check(isHttp, option, 'must be an http or https URL');
  const isAllowed = allowed.includes(url.hostname);
  const problem =
    'must be on this machine (localhost, *.localhost or a loopback address), unless allowHosts ' +
    'names its host';
  check(isAllowed || isLoopbackHost(url.hostname), option, problem);
  const hasUser = url.username !== '' || url.password !== '';
  check(!hasUser, option, 'must not contain a user or password');
  return { url, lookup: isAllowed ? undefined : lookupLoopback };
}

function parseUrl(text: unknown): URL | undefined {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
}
