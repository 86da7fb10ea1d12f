import dns from 'node:dns';
import { vi, type Mock } from 'vitest';

const ADDRESSES = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

/** Makes every host name resolve to the IPv6 and the IPv4 loopback address. */
export function resolveToTwoAddresses(): Mock {
  type Found = (error: null, addresses: typeof ADDRESSES) => void;
  const lookup = (_host: string, _options: object, found: Found): void => found(null, ADDRESSES);
  return vi.spyOn(dns, 'lookup').mockImplementation(lookup as never) as Mock;
}
