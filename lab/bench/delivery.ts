/** The notification that every contestant gets, in the measured sizes. */
import { createHmac } from 'node:crypto';

export const REFERENCE = 'order-000042';
export const SECRET = 'whsec_2f8c1b7e0a9d4c63b5e1f0a7d8c9b6e4';
export const URL_PATH = '/webhooks/payments';

/** Returns a JSON object of exactly `bytes` bytes: a payment, filled up with order lines. */
export function jsonBody(bytes: number): Buffer {
  const payment = {
    reference: REFERENCE,
    status: 'success',
    amount: 129_900,
    currency: 'NGN',
    note: '',
    lines: [] as object[],
  };
  const length = (): number => Buffer.byteLength(JSON.stringify(payment));
  for (let index = 0; ; index++) {
    payment.lines.push({
      sku: `sku-${index}`,
      title: `Unit ${index} of a larger order`,
      quantity: index % 7,
      price: index * 150,
    });
    if (length() > bytes) break;
  }
  payment.lines.pop();
  payment.note = 'x'.repeat(bytes - length());
  return Buffer.from(JSON.stringify(payment));
}

export function signatureOf(body: Buffer): string {
  return createHmac('sha256', SECRET).update(body).digest('hex');
}

/** Headers as `req.headers` has them behind a proxy: lower-case, with ours in the middle. */
export function nodeHeaders(body: Buffer): Record<string, string> {
  return {
    host: 'shop.example',
    'user-agent': 'payment-link-service/1.0',
    accept: '*/*',
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-service-event': 'payment.succeeded',
    'x-service-signature': signatureOf(body),
    'x-forwarded-for': '203.0.113.7',
    connection: 'keep-alive',
  };
}

/** Returns a whole request as on the wire. */
export function requestOf(body: Buffer): Buffer {
  const lines = Object.entries(nodeHeaders(body)).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${URL_PATH} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}
