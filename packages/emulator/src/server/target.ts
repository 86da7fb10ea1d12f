import type { LookupFunction } from 'node:net';
import { ConfigurationError } from '@paylink/core';
import { isLoopbackHost, lookupLoopback } from './loopback.js';

/** The target of notifications. */
export interface WebhookTarget {
  readonly url: URL;
  /** Resolves the host's name and rejects other machines. Undefined for an allowed host. */
  readonly lookup: LookupFunction | undefined;
}

/** Reads `allowHosts`, spelled as in URLs. @throws ConfigurationError */
export function parseAllowedHosts(hosts: readonly string[] = []): readonly string[] {
  if (!Array.isArray(hosts))
    throw new ConfigurationError('allowHosts', 'must be a list of host names or addresses');
  return hosts.map((host: unknown) => {
    const url =
      typeof host === 'string' && URL.canParse(`http://${host}`)
        ? new URL(`http://${host}`)
        : undefined;
    // An entry with a port or a path would never match.
    if (url?.href !== `http://${url?.hostname ?? ''}/` || /[/?#@]|:\d*$/.test(host as string)) {
      throw new ConfigurationError(
        'allowHosts',
        'must be bare host names or addresses, such as "staging.example" or "[fd00::1]"',
      );
    }
    return url.hostname;
  });
}

/**
 * Parses a URL for notifications: this machine, or an allowed host. @throws ConfigurationError that
 * names `option`
 */
export function parseTarget(
  option: string,
  text: string,
  allowed: readonly string[],
): WebhookTarget {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ConfigurationError(option, 'must be an http or https URL');
  }
  const isAllowed = allowed.includes(url.hostname);
  if (!isAllowed && !isLoopbackHost(url.hostname)) {
    throw new ConfigurationError(
      option,
      'must be on this machine (localhost, *.localhost or a loopback address), unless ' +
        'allowHosts names its host',
    );
  }
  if (url.username !== '' || url.password !== '')
    throw new ConfigurationError(option, 'must not contain a user or password');
  return { url, lookup: isAllowed ? undefined : lookupLoopback };
}
