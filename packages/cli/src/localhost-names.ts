import dns from 'node:dns';

/**
 * Lets every connection of this process reach names below `localhost`, which are this machine (RFC
 * 6761 section 6.3). Not every system resolves them, and fetch() takes no resolver of its own.
 */
export function resolveLocalhostNames(): void {
  const original = dns.lookup;
  const lookup = (hostname: string, ...rest: unknown[]): void => {
    const name = /\.localhost$/i.test(hostname) ? 'localhost' : hostname;
    (original as (...args: unknown[]) => void)(name, ...rest);
  };
  dns.lookup = lookup as typeof dns.lookup;
}
