/** Deliveries for the tests of the receiver. */
import { signedDelivery, TEST_SECRET, type SignedDeliveryOptions } from '@paylink/testing';
import type { Delivery } from '../src/index.js';

export const secret = TEST_SECRET;
export const received = { status: 200, body: '{"received":true}' };
export const hang = (): Promise<never> => new Promise(() => undefined);

/** A delivery as an adapter makes it; the framing of real ones is tested over sockets. */
export function deliver(
  options: SignedDeliveryOptions & {
    method?: string;
    extra?: Record<string, string | undefined>;
    body?: () => Promise<Uint8Array>;
  } = {},
): Delivery {
  const { rawBody, headers } = signedDelivery(options);
  const all: Record<string, string | undefined> = { ...headers, ...options.extra };
  return { method: options.method, header: (name) => all[name], body: options.body ?? (() => Promise.resolve(rawBody)) };
}
