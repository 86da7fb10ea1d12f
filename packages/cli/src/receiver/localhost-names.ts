import dns from 'node:dns';

/**
 * Resolves names below `localhost` to this machine (RFC 6761 section 6.3) for every connection of
 * this process. Some systems do not resolve them, and fetch() does not accept a resolver.
 */
export function resolveLocalhostNames(): void {
  const original = dns.lookup;
  const lookup = (hostname: string, ...rest: unknown[]): void => {
    const name = /\.localhost$/i.test(hostname) ? 'localhost' : hostname;
    (original as (...args: unknown[]) => void)(name, ...rest);
  };
  dns.lookup = lookup as typeof dns.lookup;
}
