/** The merchant's part of every server, so that two of them differ in nothing but the way to it. */
import { isSigned } from '../by-hand.js';
import { SECRET } from '../delivery.js';

export const RECEIVED = '{"received":true}';
export const HEADERS = { 'content-type': 'application/json', 'content-length': RECEIVED.length };

/** Of a bare 401. */
export const CLOSING = { ...HEADERS, connection: 'close' };

/** The handlers of paylink. */
export const handlers = {
  'payment.succeeded': ({ reference }: { readonly reference: string }) => credit(reference),
};

/**
 * The check that users write themselves, once they have the bytes. Gives whether the notification
 * was good.
 */
export function receiveByHand(body: Buffer, signature = '', kind?: string): boolean {
  if (!isSigned(body, signature, SECRET)) return false;
  const payload = JSON.parse(body.toString()) as { reference: string };
  if (kind === 'payment.succeeded') credit(payload.reference);
  return true;
}

export function credit(reference: string): void {
  if (reference === '') throw new Error('no reference');
}
