import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { attacks, signedDelivery, testOrders } from '../src/index.js';

describe('signedDelivery', () => {
  it(
    'has the content type, the event kind and the hex HMAC-SHA256 of the bytes',
    { tags: 'M05' },
    () => {
      const delivery = signedDelivery({
        secret: 'key',
        rawBody: 'The quick brown fox jumps over the lazy dog',
      });
      // A widely published HMAC-SHA256 test value.
      expect(delivery.signature).toBe(
        'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
      );
      expect(signedDelivery().headers).toEqual({
        'content-type': 'application/json',
        'x-service-event': 'payment.succeeded',
        'x-service-signature': signedDelivery().signature,
      });
      expect(signedDelivery().body).toBe('{"reference":"order-42"}');
    },
  );

  it('uses the given reference, payload, kind and header names', () => {
    const delivery = signedDelivery({
      reference: 'a',
      payload: { amount: 1 },
      type: 'x.y',
      headers: { signature: 'X-Sig', event: 'X-Kind' },
    });
    expect(delivery.body).toBe('{"reference":"a","amount":1}');
    expect(delivery.headers).toEqual({
      'content-type': 'application/json',
      'x-kind': 'x.y',
      'x-sig': delivery.signature,
    });
    expect(signedDelivery({ payload: { reference: 42 } }).body).toBe('{"reference":42}');
  });

  it('has a Buffer as its body if the bytes are not text', () => {
    const rawBody = Buffer.from([0xff, 0x00, 0x7b]);
    const delivery = signedDelivery({ rawBody });
    expect(delivery.body).toEqual(rawBody);
    expect(delivery.headers['content-type']).toBe('application/octet-stream');
    expect(Buffer.from(signedDelivery({ rawBody: '\ufeff{}' }).body)).toEqual(
      Buffer.from('\ufeff{}'),
    );
  });

  it('has the same bytes in every form', async () => {
    const delivery = signedDelivery({ rawBody: Buffer.from([0xff, 0x00, 0x7b]) });
    const request = delivery.toRequest('http://localhost/webhooks');
    expect(request.method).toBe('POST');
    expect(Buffer.from(await request.arrayBuffer())).toEqual(delivery.rawBody);
    expect(request.headers.get('x-service-signature')).toBe(delivery.signature);
    expect(delivery.toInject('/webhooks')).toEqual({
      method: 'POST',
      url: '/webhooks',
      headers: delivery.headers,
      payload: delivery.rawBody,
    });

    const server = createServer((req, res) => req.pipe(res)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const response = await delivery.send(
        `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      );
      expect(Buffer.from(await response.arrayBuffer())).toEqual(delivery.rawBody);
    } finally {
      server.close();
    }
  });

  it('refuses an empty secret', () => {
    expect(() => signedDelivery({ secret: '' })).toThrow('secret is empty');
    expect(() => signedDelivery({ secret: new Uint8Array() })).toThrow('secret is empty');
    expect(() => signedDelivery({ secret: null as never })).toThrow('secret must be a string or');
  });

  // Under a misspelt `secret`, it would sign with TEST_SECRET.
  it.each([
    ['signedDelivery', signedDelivery],
    ['attacks', attacks],
    ['testOrders', testOrders],
  ] as const)('%s refuses a misspelt option, and what is no object', (_, call) => {
    const callWith = call as (options: unknown) => unknown;
    expect(() => callWith({ sercet: 'x' })).toThrow(
      /^sercet is an unknown option\. Valid options: /,
    );
    expect(() => callWith(null)).toThrow('options must be an object');
  });
});
