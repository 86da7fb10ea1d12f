/** Deliveries for the tests of the receiver. Real requests are tested over sockets. */
import { signedDelivery, TEST_SECRET, type SignedDeliveryOptions } from '@paylink/testing';
import { vi } from 'vitest';
import type { Delivery } from '../src/index.js';
import type { LogFields } from '../src/internal.js';

export const secret = TEST_SECRET;
/** Accepted in production too. */
export const PORTAL_SECRET = 'a-secret-of-the-portal';
export const forged = { 'x-service-signature': '0'.repeat(64) };

export interface DeliverOptions extends SignedDeliveryOptions {
  readonly method?: string;
  readonly extra?: Readonly<Record<string, string | undefined>>;
  readonly body?: () => Promise<Uint8Array>;
}

/** A delivery as an adapter makes it. */
export function deliver({ method, extra, body, ...options }: DeliverOptions = {}): Delivery {
  const { rawBody, headers } = signedDelivery(options);
  const all: Record<string, string | undefined> = { ...headers, ...extra };
  return {
    method,
    header: (name) => all[name],
    body: body ?? (() => Promise.resolve(rawBody)),
  };
}

export function createLog() {
  const warn = vi.fn<(message: string, fields?: LogFields) => void>();
  const error = vi.fn<(message: string, fields?: LogFields) => void>();
  /** The messages, without the diagnosis, which comes after the reply. */
  const lines = (): string[] =>
    [...warn.mock.calls, ...error.mock.calls]
      .map(([message]) => message)
      .filter((message) => !message.includes('[paylink] the signature of a delivery'));
  return { warn, error, lines };
}

/** Runs `work` while Object.prototype has these properties, as after a prototype pollution. */
export async function polluted(
  properties: Readonly<Record<string, unknown>>,
  work: () => unknown,
): Promise<void> {
  const names = Object.keys(properties).filter((name) => !(name in Object.prototype));
  const shared = Object.prototype as unknown as Record<string, unknown>;
  try {
    for (const name of names) shared[name] = properties[name];
    await work();
  } finally {
    for (const name of names) Reflect.deleteProperty(shared, name);
  }
}
