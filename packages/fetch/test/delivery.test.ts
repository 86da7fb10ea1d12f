import { signedDelivery } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { deliveryOf, toResponse, type FetchRequest } from '../src/index.js';

const { headers, rawBody, signature, toRequest } = signedDelivery();
const REPLY = { status: 401, headers: {}, body: '' };
const requestOf = (): Request => toRequest('http://localhost/');

describe('the delivery of a Request', () => {
  it('has its method, its headers and its bytes', async () => {
    const delivery = deliveryOf(requestOf());
    expect([delivery.method, delivery.header('x-service-signature')]).toEqual(['POST', signature]);
    expect(delivery.header('x-none')).toBeUndefined();
    expect(
      Buffer.from(await delivery.body({ bodyLimit: 100, bodyTimeout: 1_000 })).equals(rawBody),
    ).toBe(true);
  });

  it('has the bytes that its host kept', async () => {
    const request = requestOf();
    const kept = request.arrayBuffer();
    const { body } = deliveryOf(request, undefined, kept);
    expect(Buffer.from(await body({ bodyLimit: 100, bodyTimeout: 1_000 })).equals(rawBody)).toBe(
      true,
    );
  });

  it('drops no body that other code reads or has read, and no missing body', async () => {
    const locked = requestOf();
    const reader = locked.body!.getReader();
    const used = requestOf();
    await used.text();
    const empty = new Request('http://localhost/', { method: 'POST', headers });
    for (const request of [locked, used, empty])
      expect(toResponse(deliveryOf(request), REPLY).status).toBe(401);
    expect((await reader.read()).value).toHaveLength(rawBody.length);
  });

  it.each<readonly [string, Partial<FetchRequest>]>([
    ['has no body', { body: undefined }],
    ['has a body that is no stream', { body: { locked: false } as never }],
    [
      'says that its body was used',
      { body: { locked: false, getReader: () => expect.fail('it was used') }, bodyUsed: true },
    ],
  ])('drops nothing on a host whose request %s', (_what, fields) => {
    const { method, headers: given, arrayBuffer } = requestOf();
    const delivery = deliveryOf({ method, headers: given, arrayBuffer, ...fields });
    expect(toResponse(delivery, REPLY).status).toBe(401);
  });
});
