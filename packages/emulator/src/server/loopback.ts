import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Only the names `localhost` and `*.localhost` count, and loopback addresses. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  // RFC 6761 section 6.3 reserves these names for this machine.
  return /^(.+\.)?localhost$/i.test(bare) || isLoopbackAddress(bare);
}

/**
 * Resolves the names of this machine for a connection. Some systems do not resolve names below
 * `localhost`, and a hosts file could lead them elsewhere.
 */
export const lookupLoopback: LookupFunction = (_, options, callback) => {
  lookup('localhost', options, callback);
};
