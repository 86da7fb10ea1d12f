import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an IP address reaches this machine only. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether a host, as a URL or a Host header names it, is this machine. Of names only `localhost`
 * and `*.localhost` count.
 */
export function isLoopbackHost(hostname: string): boolean {
  const bare =
    hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isLocalhostName(bare) || isLoopbackAddress(bare);
}

/** RFC 6761 section 6.3: these names are this machine, and no registry gives them away. */
function isLocalhostName(name: string): boolean {
  return /^(.+\.)?localhost$/i.test(name);
}

/**
 * Resolves a name for a connection, and refuses the answer unless all of it is loopback: a hosts
 * file can say anything.
 */
export const lookupLoopback: LookupFunction = (hostname, options, callback) => {
  // Not every system resolves names below `localhost`.
  const name = isLocalhostName(hostname) ? 'localhost' : hostname;
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, '', 0);
      return;
    }
    const first = addresses[0];
    if (first === undefined || !addresses.every(({ address }) => isLoopbackAddress(address))) {
      callback(new Error(`${hostname} does not resolve to a loopback address`), '', 0);
      return;
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
