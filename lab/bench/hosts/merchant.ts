/** The merchant's code, which all servers share. */
import { isSigned } from '../by-hand.js';
import { SECRET } from '../delivery.js';

export const RECEIVED = '{"received":true}';
export const HEADERS = { 'content-type': 'application/json', 'content-length': RECEIVED.length };

export const handlers = {
  'payment.succeeded': ({ reference }: { readonly reference: string }) => credit(reference),
};

/** The check that users write themselves. Returns true for a good notification. */
export function receiveByHand(body: Buffer, signature = '', kind?: string): boolean {
  if (!isSigned(body, signature, SECRET)) return false;
  const payload = JSON.parse(body.toString()) as { reference: string };
  if (kind === 'payment.succeeded') credit(payload.reference);
  return true;
}

export function credit(reference: string): void {
  if (reference === '') throw new Error('no reference');
}
