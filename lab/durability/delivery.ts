/** Notifications as bytes for the wire, signed without core. */
import { createHmac } from 'node:crypto';

/** A test secret. */
export const SECRET = 'whsec_Zk3vQ8pT1nW6yB0rL5cX9dJ2';
export const PATH = '/webhooks/payments';

export function genuine(reference: string): Buffer {
  return signed(reference, SECRET);
}

/** Returns a notification from a sender without the secret. */
export function forged(reference: string): Buffer {
  return signed(reference, 'a-guess-at-the-secret');
}

function signed(reference: string, secret: string): Buffer {
  const body = JSON.stringify({ reference });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return Buffer.from(
    `POST ${PATH} HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Service-Event: payment.succeeded\r\nX-Service-Signature: ${signature}\r\n\r\n${body}`,
  );
}
