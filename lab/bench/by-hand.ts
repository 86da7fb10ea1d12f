/** The hand-written check in most services' documentation. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export function isSigned(body: Buffer, signature: string, secret: string): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
