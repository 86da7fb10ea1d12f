import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createVerifier, isWebhookError, verifySignature } from '../src/index.js';

const { rawBody, headers, signature } = signedDelivery();
const verifier = createVerifier({ secret: TEST_SECRET });
const refused = { code: 'invalid_signature', status: 401 };
const mac = (algorithm: string, key: string | Uint8Array, data: string | Uint8Array): string =>
  createHmac(algorithm, key).update(data).digest('hex');

describe('the signature', () => {
  const forms: readonly [string, unknown][] = [
    ['A01 is missing', undefined],
    ['A02 is empty', ''],
    ['A02 is blank', '   '],
    ['A03 comes twice, joined', `${signature}, ${signature}`],
    ['A03 comes twice, as an array', [signature, signature]],
    ['A04 comes with a forged one in front', `${'0'.repeat(64)}, ${signature}`],
    ['A04 comes with a forged one behind', `${signature},${'0'.repeat(64)}`],
    ['A06 is upper case', signature.toUpperCase()],
    ['A06 has one upper-case digit', signature.replace(/[a-f]/, (digit) => digit.toUpperCase())],
    ['A08 has a blank within', `${signature.slice(0, 32)} ${signature.slice(33)}`],
    ['A08 has blanks around it', ` ${signature} `],
    ['A08 has a line break at its end', `${signature}\n`],
    ['A08 has a line break in place of its last digit', `${signature.slice(0, 63)}\n`],
    ['A09 has the prefix sha256=', `sha256=${signature}`],
    ['A09 has the prefix v1=', `v1=${signature}`],
    ['A09 has the prefix 0x', `0x${signature}`],
    ['A09 is quoted', `"${signature}"`],
    ['A09 is base64', Buffer.from(signature, 'hex').toString('base64')],
    ['A09 is base64url', Buffer.from(signature, 'hex').toString('base64url')],
    ...Array.from({ length: 64 }, (_, length): [string, string] => [`A11 is cut to ${length}`, signature.slice(0, length)]),
    ...['0', 'zz', '00', ' ', '\0'].map((more): [string, string] => [
      `A12 has ${JSON.stringify(more)} behind it`,
      signature + more,
    ]),
    ['A13 has a first character that is no digit', `g${signature.slice(1)}`],
    ['A13 has a last character that is no digit', `${signature.slice(0, 63)}g`],
    ['A14 has a Latin-1 character', `${signature.slice(0, 63)}é`],
    ['A14 has full-width digits', signature.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
    [
      'A14 has characters that alias to its digits in Latin-1',
      signature.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0x100)),
    ],
    ['A14 has a dotted capital I', `${signature.slice(0, 63)}\u0130`],
    ['A15 has a control character', `${signature.slice(0, 63)}\u0001`],
    ['A15 is NUL', '\0'.repeat(64)],
    ['A17 is all zeros', '0'.repeat(64)],
    ['A17 is all f', 'f'.repeat(64)],
    ['A17 is that of the empty body', mac('sha256', TEST_SECRET, '')],
    ['A17 is made with an empty key', mac('sha256', '', rawBody)],
    ['A19 is SHA-1', mac('sha1', TEST_SECRET, rawBody)],
    ['A19 is SHA-512', mac('sha512', TEST_SECRET, rawBody)],
    ['A19 is SHA-512 cut to its length', mac('sha512', TEST_SECRET, rawBody).slice(0, 64)],
    ['A19 is SHA-256 of secret and body', createHash('sha256').update(TEST_SECRET).update(rawBody).digest('hex')],
    ['A19 is SHA-256 of the body', createHash('sha256').update(rawBody).digest('hex')],
    ['A19 has key and message swapped', mac('sha256', rawBody, TEST_SECRET)],
    ['A20 is an array with the right one', [signature]],
    ['A20 is a number', 42],
    ['A20 is a Buffer', Buffer.from(signature)],
    ['A20 is null', null],
    ['A20 is an object that turns into the right one', { toString: () => signature, length: 64 }],
    ['A20 is a String object', Object(signature)],
    ['A20 is a Proxy', new Proxy({}, { get: () => signature })],
  ];

  it.each(forms)('%s: 401', async (_, value) => {
    const given = { ...headers, 'x-service-signature': value } as Record<string, string>;
    await expect(verifier.verify(rawBody, given)).rejects.toMatchObject(refused);
    await expect(verifySignature(rawBody, value, TEST_SECRET)).rejects.toMatchObject(refused);
  });

  it('A18 is refused with any one of its 256 bits flipped', async () => {
    for (let bit = 0; bit < 256; bit++) {
      const flipped = Buffer.from(signature, 'hex');
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      await expect(verifySignature(rawBody, flipped.toString('hex'), TEST_SECRET)).rejects.toMatchObject(refused);
    }
  });

  it('C01 fits these bytes only: any one bit of the body flipped is refused', async () => {
    for (let bit = 0; bit < rawBody.length * 8; bit++) {
      const changed = Buffer.from(rawBody);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      await expect(verifySignature(changed, signature, TEST_SECRET)).rejects.toMatchObject(refused);
    }
  });

  it.each([
    ['C02 in another key order', '{"b":1,"reference":"a"}', '{"reference":"a","b":1}'],
    ['C02 with other blanks', '{"reference": "a"}', '{"reference":"a"}'],
    ['C02 with other escapes', '{"reference":"\\u00e9"}', '{"reference":"é"}'],
    ['C02 with 1.0 as 1', '{"reference":"a","n":1.0}', '{"reference":"a","n":1}'],
    ['C07 with a line break more', '{"reference":"a"}', '{"reference":"a"}\n'],
    ['C06 with a byte order mark more', '{"reference":"a"}', '\ufeff{"reference":"a"}'],
  ])('refuses a body that came again %s', async (_, sent, received) => {
    const genuine = signedDelivery({ rawBody: sent });
    await expect(verifier.verify(Buffer.from(received), genuine.headers)).rejects.toMatchObject(refused);
  });

  it('C11 fits bytes that are not UTF-8, which a text decoder in front would have changed', async () => {
    const first = Buffer.from([0xff]);
    const second = Buffer.from([0xfe]);
    const tag = mac('sha256', TEST_SECRET, first);
    await expect(verifySignature(first, tag, TEST_SECRET)).resolves.toBeUndefined();
    await expect(verifySignature(second, tag, TEST_SECRET)).rejects.toMatchObject(refused);
  });

  it('is checked over the bytes at the time of the call, also when they change right after it', async () => {
    const bytes = Buffer.from(rawBody);
    const verified = verifier.verify(bytes, headers);
    bytes.write('{"reference":"order-99"}');
    await expect(verified).resolves.toMatchObject({ reference: 'order-42' });
  });
});

describe('the headers', () => {
  it('may be Fetch Headers', async () => {
    await expect(verifier.verify(rawBody, new Headers(headers))).resolves.toMatchObject({ reference: 'order-42' });
    const repeated = new Headers(headers);
    repeated.append('x-service-signature', signature);
    await expect(verifier.verify(rawBody, repeated)).rejects.toMatchObject(refused);
  });

  it('A21 are found in any case, and with an underscore are others', async () => {
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    await expect(verifier.verify(rawBody, shouted)).resolves.toMatchObject({ reference: 'order-42' });
    const underscored = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]));
    await expect(verifier.verify(rawBody, underscored)).rejects.toMatchObject(refused);
  });

  it('A03 with the signature in two spellings are a repeated one', async () => {
    await expect(verifier.verify(rawBody, { ...headers, 'X-Service-Signature': signature })).rejects.toMatchObject(refused);
  });

  it('may have another spelling that was never set, before the signature or after it', async () => {
    for (const given of [
      { 'X-Service-Signature': undefined, ...headers },
      { ...headers, 'X-Service-Signature': undefined },
    ]) {
      await expect(verifier.verify(rawBody, given)).resolves.toMatchObject({ reference: 'order-42' });
    }
  });

  it('A20 are not searched on the prototype', async () => {
    await expect(verifier.verify(rawBody, Object.create(headers) as typeof headers)).rejects.toMatchObject(refused);
  });

  it.each([undefined, null, 'x-service-signature', 42])('A20 that are %j are refused, not a crash', async (given) => {
    const error: unknown = await verifier.verify(rawBody, given as never).catch((thrown: unknown) => thrown);
    expect(isWebhookError(error)).toBe(true);
  });
});

describe('the raw body', () => {
  it.each([
    ['an object', { reference: 'order-42' }],
    ['a string', rawBody.toString()],
    ['undefined', undefined],
    ['null', null],
    ['an array of bytes', [...rawBody]],
    ['an ArrayBuffer', new Uint8Array(rawBody).buffer],
    ['a DataView', new DataView(new Uint8Array(rawBody).buffer)],
    ['a Uint16Array', new Uint16Array(12)],
    ['an object that claims to be bytes', { [Symbol.toStringTag]: 'Uint8Array', length: 3 }],
  ])('F03 K05 must be bytes: %s is refused with how to fix it, never serialised', async (_, value) => {
    await expect(verifier.verify(value as never, headers)).rejects.toMatchObject({ code: 'body_consumed', message: /Uint8Array/ });
    await expect(verifySignature(value as never, signature, TEST_SECRET)).rejects.toMatchObject({ code: 'body_consumed' });
  });

  it('may be a view into a larger buffer', async () => {
    const pool = Buffer.concat([Buffer.from('xx'), rawBody, Buffer.from('yy')]);
    await expect(verifier.verify(new Uint8Array(pool.buffer, pool.byteOffset + 2, rawBody.length), headers)).resolves.toMatchObject(
      { reference: 'order-42' },
    );
  });
});

describe('createVerifier', () => {
  it('F20 has no way to success but the event: it resolves with it or rejects', async () => {
    await expect(verifySignature(rawBody, signature, TEST_SECRET)).resolves.toBeUndefined();
    await expect(verifier.verify(rawBody, {})).rejects.toMatchObject(refused);
  });

  it('refuses an option that it does not know, since a misspelt one would be off', () => {
    expect(() => createVerifier({ secret: TEST_SECRET, evnts: {} } as never)).toThrow(
      'evnts is an unknown option. Valid options: secret, events, headers, logger',
    );
    expect(() => createVerifier(undefined as never)).toThrow('options must be an object');
  });

  it('refuses a header name under a misspelt key, since the default would be read in its place', () => {
    expect(() => createVerifier({ secret: TEST_SECRET, headers: { signatur: 'x-other' } as never })).toThrow(
      'signatur is an unknown option. Valid options: signature, event',
    );
  });

  it.each([
    { signature: 'a b' },
    { event: '' },
    { signature: 'x', event: 'X' },
    { signature: 'é' },
    { event: ['x', 'y'] as never },
  ])('refuses headers %j', (names) => {
    expect(() => createVerifier({ secret: TEST_SECRET, headers: names })).toThrow('headers must give two different header names');
  });
});
