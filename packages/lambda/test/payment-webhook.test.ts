import type { ALBHandler, APIGatewayProxyHandler, APIGatewayProxyHandlerV2 } from 'aws-lambda';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { paymentWebhook, type LambdaHost } from '../src/index.js';
import type { LambdaResult } from '../src/lambda.js';
import { SHAPES, type Request } from './events.js';

const secret = TEST_SECRET;
const logger = { warn: () => undefined, error: () => undefined };
const context = {
  awsRequestId: '8f5a1d1c',
  functionName: 'webhooks',
  getRemainingTimeInMillis: () => 30_000,
};

function requestOf(delivery: SignedDelivery, more: Partial<Request> = {}): Request {
  return { headers: Object.entries(delivery.headers), body: delivery.rawBody, ...more };
}

/** A header of a result, in whichever form it came; and it must be in one alone. */
function headerOf({ headers, multiValueHeaders }: LambdaResult, name: string): string | undefined {
  expect(headers === undefined).not.toBe(multiValueHeaders === undefined);
  return headers?.[name] ?? multiValueHeaders?.[name]?.join();
}

describe.each(Object.entries(SHAPES))('paymentWebhook on %s', (shape, eventOf) => {
  function receiving(options: { readonly bodyLimit?: number } = {}) {
    const handler = vi.fn();
    const receive = paymentWebhook({ secret, logger, ...options }, handler);
    return { handler, receive: (request: Request) => receive(eventOf(request), context) };
  }

  it('credits a genuine delivery, and answers in the form of the request', async () => {
    const { handler, receive } = receiving();
    const request = requestOf(signedDelivery({ reference: 'order-é-42' }));
    const result = await receive(request);
    const received = { statusCode: 200, body: '{"received":true}', isBase64Encoded: false };
    expect(result).toMatchObject(received);
    expect(headerOf(result, 'content-type')).toBe('application/json');
    expect(result.multiValueHeaders !== undefined).toBe(shape === 'ALB with multi-value headers');
    expect(handler).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ type: 'payment.succeeded', reference: 'order-é-42' }),
      expect.objectContaining({ event: eventOf(request), context }),
    );
  });

  it('finds headers in any case', async () => {
    const { headers, rawBody } = signedDelivery();
    const upper = Object.entries(headers).map(
      ([name, value]) => [name.toUpperCase(), value] as const,
    );
    const result = await receiving().receive({ headers: upper, body: rawBody });
    expect(result.statusCode).toBe(200);
  });

  it('refuses a forged delivery before the handler', async () => {
    const { handler, receive } = receiving();
    const forged = await receive(requestOf(signedDelivery({ secret: 'a-secret-of-nobody' })));
    expect(forged).toMatchObject({ statusCode: 401, body: '{"error":"invalid_signature"}' });
    expect(headerOf(forged, 'www-authenticate')).toBe('Signature');
    expect(handler).not.toHaveBeenCalled();
  });

  it('takes the bytes of a body in base64', { tags: 'F19' }, async () => {
    const { handler, receive } = receiving();
    const delivery = signedDelivery({ reference: 'order-✓' });
    expect((await receive(requestOf(delivery, { base64: true }))).statusCode).toBe(200);
    const [given] = handler.mock.calls[0] as [
      { readonly reference: string; readonly rawBody: Uint8Array },
    ];
    expect(given.reference).toBe('order-✓');
    expect(Buffer.from(given.rawBody).equals(delivery.rawBody)).toBe(true);
  });

  it('refuses a signature over the base64 text', { tags: 'F19' }, async () => {
    const { receive } = receiving();
    const { rawBody } = signedDelivery();
    const { headers } = signedDelivery({ rawBody: rawBody.toString('base64') });
    expect(
      (await receive({ headers: Object.entries(headers), body: rawBody, base64: true })).statusCode,
    ).toBe(401);
  });

  it(
    'proves a binary body by its bytes in base64, and refuses text that a gateway made of it',
    { tags: 'F19' },
    async () => {
      const { receive } = receiving();
      const binary = signedDelivery({ rawBody: Buffer.from([0xff, 0xfe, 0x00, 0x80]) });
      const kept = await receive(requestOf(binary, { base64: true }));
      expect(kept).toMatchObject({ statusCode: 400, body: '{"error":"invalid_payload"}' });
      const lost = await receive(requestOf(binary));
      expect(lost).toMatchObject({ statusCode: 401, body: '{"error":"invalid_signature"}' });
    },
  );

  it.each([false, true])(
    'holds bodyLimit against the bytes, not against their encoding (base64: %s)',
    async (base64) => {
      const delivery = signedDelivery({ reference: 'é'.repeat(100) });
      const fits = receiving({ bodyLimit: delivery.rawBody.length });
      expect((await fits.receive(requestOf(delivery, { base64 }))).statusCode).toBe(200);
      const short = receiving({ bodyLimit: delivery.rawBody.length - 1 });
      const result = await short.receive(requestOf(delivery, { base64 }));
      expect(result).toMatchObject({ statusCode: 413, body: '{"error":"body_too_large"}' });
      expect(short.handler).not.toHaveBeenCalled();
    },
  );

  it('does not decode a body that is too large', async () => {
    const large = signedDelivery({ rawBody: Buffer.alloc(70_000, 'a') });
    const event = eventOf(requestOf(large, { base64: true }));
    const decode = vi.spyOn(Buffer, 'from');
    try {
      const result = await paymentWebhook({ secret, logger }, () => undefined)(event, context);
      expect(result.statusCode).toBe(413);
      expect(decode.mock.calls.filter(([text]) => (text as unknown) === event.body)).toEqual([]);
    } finally {
      decode.mockRestore();
    }
  });

  it('refuses a signature header that is there twice', async () => {
    const { headers, rawBody, signature } = signedDelivery();
    const others = Object.entries(headers).filter(([name]) => name !== 'x-service-signature');
    const own = ['x-service-signature', signature] as const;
    const forged = ['x-service-signature', '0'.repeat(64)] as const;
    const { receive } = receiving();
    const statuses: number[] = [];
    for (const twice of [
      [own, own],
      [own, forged],
      [forged, own],
    ] as const) {
      statuses.push((await receive({ headers: [...others, ...twice], body: rawBody })).statusCode);
    }
    // A load balancer without header lists passes only the last line.
    expect(statuses).toEqual(shape === 'ALB' ? [200, 401, 200] : [401, 401, 401]);
  });

  it('refuses two spellings of the signature header', async () => {
    const { receive } = receiving();
    const { headers, rawBody, signature } = signedDelivery();
    const twice = [...Object.entries(headers), ['X-Service-Signature', signature] as const];
    expect((await receive({ headers: twice, body: rawBody })).statusCode).toBe(401);
  });
});

describe('paymentWebhook', () => {
  it('takes a header without a value for an absent header', async () => {
    const { headers, rawBody } = signedDelivery();
    const receive = paymentWebhook({ secret, logger }, () => undefined);
    const given = { httpMethod: 'POST', body: rawBody.toString() };
    expect(
      (await receive({ ...given, headers: { ...headers, 'content-encoding': undefined } }))
        .statusCode,
    ).toBe(200);
    expect(
      (await receive({ ...given, headers: { ...headers, 'x-service-signature': undefined } }))
        .statusCode,
    ).toBe(401);
  });

  it('chooses the secret and the tenant by the event', async () => {
    const tenants: unknown[] = [];
    const secretOf = ({ event }: LambdaHost) => ({
      secret: event.headers?.['x-tenant'],
      tenant: 'a',
    });
    const receive = paymentWebhook(
      { secret: secretOf, logger },
      ({ tenant }) => void tenants.push(tenant),
    );
    const delivery = signedDelivery({ secret: 'secret-of-tenant-a' });
    const event = SHAPES['function URL'](
      requestOf(delivery, {
        headers: [...Object.entries(delivery.headers), ['x-tenant', 'secret-of-tenant-a']],
      }),
    );
    expect((await receive(event, context)).statusCode).toBe(200);
    expect(tenants).toEqual(['a']);
  });

  it('fits the types of @types/aws-lambda', () => {
    const receive = paymentWebhook({ secret }, (_event, { event, context: lambda }) => {
      expectTypeOf(event.body).toEqualTypeOf<string | null | undefined>();
      expectTypeOf(lambda?.awsRequestId).toEqualTypeOf<string | undefined>();
    });
    expectTypeOf(receive).toExtend<APIGatewayProxyHandler>();
    expectTypeOf(receive).toExtend<APIGatewayProxyHandlerV2>();
    expectTypeOf(receive).toExtend<ALBHandler>();
  });
});
