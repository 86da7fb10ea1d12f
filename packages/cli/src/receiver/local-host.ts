import { usageFailure } from '../terminal/failure.js';

/** @throws Failure unless the host is this machine or --allow-host names it */
export function requireAllowedHost(
  url: URL,
  allowed: readonly string[] = [],
  condition = 'if you own that server',
): void {
  if (isLocalHost(url.hostname) || allowed.includes(url.hostname) || allowed.includes(url.host))
    return;
  throw usageFailure(
    `${url.hostname} is not this machine, and this command sends notifications with a genuine ` +
      'signature',
    `${condition}, add --allow-host ${url.hostname}`,
  );
}

export function isLocalHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname)
  );
}
