/** Notifications as bytes for the wire, signed by code that is not core's. */
import { createHmac } from 'node:crypto';

/** Of no real merchant. */
export const SECRET = 'whsec_Zk3vQ8pT1nW6yB0rL5cX9dJ2';
export const PATH = '/webhooks/payments';

export function genuine(reference: string): Buffer {
  return signed(reference, SECRET);
}

/** By a sender who does not know the secret. */
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
