import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createVerifier, isWebhookError, sign, verifySignature } from '../src/index.js';

const { rawBody, headers, signature } = signedDelivery();
const verifier = createVerifier({ secret: TEST_SECRET });
const refused = { code: 'invalid_signature', status: 401 };
const mac = (algorithm: string, key: string | Uint8Array, data: string | Uint8Array): string =>
  createHmac(algorithm, key).update(data).digest('hex');

describe('a signature', () => {
  const forms: readonly [string, unknown][] = [
    ['is missing (A01)', undefined],
    ['is empty (A02)', ''],
    ['is blank (A02)', '   '],
    ['comes twice, joined (A03)', `${signature}, ${signature}`],
    ['comes twice, as an array (A03)', [signature, signature]],
    ['comes with a forged one in front (A04)', `${'0'.repeat(64)}, ${signature}`],
    ['comes with a forged one behind (A04)', `${signature},${'0'.repeat(64)}`],
    ['is upper case (A06)', signature.toUpperCase()],
    ['has one upper-case digit (A06)', signature.replace(/[a-f]/, (digit) => digit.toUpperCase())],
    ['has a blank within (A08)', `${signature.slice(0, 32)} ${signature.slice(33)}`],
    ['has blanks around it (A08)', ` ${signature} `],
    ['has a line break at its end (A08)', `${signature}\n`],
    ['has a line break in place of its last digit (A08)', `${signature.slice(0, 63)}\n`],
    ['has the prefix sha256= (A09)', `sha256=${signature}`],
    ['has the prefix v1= (A09)', `v1=${signature}`],
    ['has the prefix 0x (A09)', `0x${signature}`],
    ['is quoted (A09)', `"${signature}"`],
    ['is base64 (A09)', Buffer.from(signature, 'hex').toString('base64')],
    ['is base64url (A09)', Buffer.from(signature, 'hex').toString('base64url')],
    ...Array.from({ length: 64 }, (_, length): [string, string] => [
      `is cut to ${length} (A11)`,
      signature.slice(0, length),
    ]),
    ...['0', 'zz', '00', ' ', '\0'].map((more): [string, string] => [
      `has ${JSON.stringify(more)} behind it (A12)`,
      signature + more,
    ]),
    ['has a first character that is no digit (A13)', `g${signature.slice(1)}`],
    ['has a last character that is no digit (A13)', `${signature.slice(0, 63)}g`],
    ['has a Latin-1 character (A14)', `${signature.slice(0, 63)}é`],
    [
      'has full-width digits (A14)',
      signature.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ],
    [
      'has characters that alias to its digits in Latin-1 (A14)',
      signature.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0x100)),
    ],
    ['has a dotted capital I (A14)', `${signature.slice(0, 63)}\u0130`],
    ['has a control character (A15)', `${signature.slice(0, 63)}\u0001`],
    ['is NUL (A15)', '\0'.repeat(64)],
    ['is all zeros (A17)', '0'.repeat(64)],
    ['is all f (A17)', 'f'.repeat(64)],
    ['is that of the empty body (A17)', mac('sha256', TEST_SECRET, '')],
    ['is made with an empty key (A17)', mac('sha256', '', rawBody)],
    ['is SHA-1 (A19)', mac('sha1', TEST_SECRET, rawBody)],
    ['is SHA-512 (A19)', mac('sha512', TEST_SECRET, rawBody)],
    ['is SHA-512 cut to its length (A19)', mac('sha512', TEST_SECRET, rawBody).slice(0, 64)],
    [
      'is SHA-256 of secret and body (A19)',
      createHash('sha256').update(TEST_SECRET).update(rawBody).digest('hex'),
    ],
    ['is SHA-256 of the body (A19)', createHash('sha256').update(rawBody).digest('hex')],
    ['has key and message swapped (A19)', mac('sha256', rawBody, TEST_SECRET)],
    ['is an array with the right one (A20)', [signature]],
    ['is a number (A20)', 42],
    ['is a Buffer (A20)', Buffer.from(signature)],
    ['is null (A20)', null],
    ['is an object that turns into the right one (A20)', { toString: () => signature, length: 64 }],
    ['is a String object (A20)', Object(signature)],
    ['is a Proxy (A20)', new Proxy({}, { get: () => signature })],
  ];

  it.each(forms)('%s: 401', async (_, value) => {
    const given = { ...headers, 'x-service-signature': value } as Record<string, string>;
    await expect(verifier.verify(rawBody, given)).rejects.toMatchObject(refused);
    await expect(verifySignature(rawBody, value, TEST_SECRET)).rejects.toMatchObject(refused);
  });

  it('refuses a signature with any one of its 256 bits flipped (A18)', async () => {
    for (let bit = 0; bit < 256; bit++) {
      const flipped = Buffer.from(signature, 'hex');
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      await expect(
        verifySignature(rawBody, flipped.toString('hex'), TEST_SECRET),
      ).rejects.toMatchObject(refused);
    }
  });

  it('refuses the body with any one bit flipped (C01)', async () => {
    for (let bit = 0; bit < rawBody.length * 8; bit++) {
      const changed = Buffer.from(rawBody);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      await expect(verifySignature(changed, signature, TEST_SECRET)).rejects.toMatchObject(refused);
    }
  });

  it.each([
    ['in another key order (C02)', '{"b":1,"reference":"a"}', '{"reference":"a","b":1}'],
    ['with other blanks (C02)', '{"reference": "a"}', '{"reference":"a"}'],
    ['with other escapes (C02)', '{"reference":"\\u00e9"}', '{"reference":"é"}'],
    ['with 1.0 as 1 (C02)', '{"reference":"a","n":1.0}', '{"reference":"a","n":1}'],
    ['with a line break more (C07)', '{"reference":"a"}', '{"reference":"a"}\n'],
    ['with a byte order mark more (C06)', '{"reference":"a"}', '\ufeff{"reference":"a"}'],
  ])('refuses a body that came again %s', async (_, sent, received) => {
    const genuine = signedDelivery({ rawBody: sent });
    await expect(verifier.verify(Buffer.from(received), genuine.headers)).rejects.toMatchObject(
      refused,
    );
  });

  it('covers bytes that are not UTF-8, which a text decoder would change (C11)', async () => {
    const first = Buffer.from([0xff]);
    const second = Buffer.from([0xfe]);
    const tag = mac('sha256', TEST_SECRET, first);
    await expect(verifySignature(first, tag, TEST_SECRET)).resolves.toBeUndefined();
    await expect(verifySignature(second, tag, TEST_SECRET)).rejects.toMatchObject(refused);
  });

  it('covers the bytes at the time of the call, even if they change right after the call', async () => {
    const bytes = Buffer.from(rawBody);
    const verified = verifier.verify(bytes, headers);
    bytes.write('{"reference":"order-99"}');
    await expect(verified).resolves.toMatchObject({ reference: 'order-42' });
  });
});

describe('the headers', () => {
  it('may be Fetch Headers', async () => {
    await expect(verifier.verify(rawBody, new Headers(headers))).resolves.toMatchObject({
      reference: 'order-42',
    });
    const repeated = new Headers(headers);
    repeated.append('x-service-signature', signature);
    await expect(verifier.verify(rawBody, repeated)).rejects.toMatchObject(refused);
  });

  it('are found in any case, but not with underscores (A21)', async () => {
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    await expect(verifier.verify(rawBody, shouted)).resolves.toMatchObject({
      reference: 'order-42',
    });
    const underscored = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]),
    );
    await expect(verifier.verify(rawBody, underscored)).rejects.toMatchObject(refused);
  });

  it('repeat the signature if two spellings have one (A03)', async () => {
    await expect(
      verifier.verify(rawBody, { ...headers, 'X-Service-Signature': signature }),
    ).rejects.toMatchObject(refused);
  });

  it('may hold another spelling that is undefined', async () => {
    for (const given of [
      { 'X-Service-Signature': undefined, ...headers },
      { ...headers, 'X-Service-Signature': undefined },
    ]) {
      await expect(verifier.verify(rawBody, given)).resolves.toMatchObject({
        reference: 'order-42',
      });
    }
  });

  it('are not read from a prototype (A20)', async () => {
    await expect(
      verifier.verify(rawBody, Object.create(headers) as typeof headers),
    ).rejects.toMatchObject(refused);
  });

  it.each([undefined, null, 'x-service-signature', 42])(
    'are refused without a crash if they are %j (A20)',
    async (given) => {
      const error: unknown = await verifier
        .verify(rawBody, given as never)
        .catch((thrown: unknown) => thrown);
      expect(isWebhookError(error)).toBe(true);
    },
  );
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
  ])('must be bytes: %s is refused and never serialised (F03, K05)', async (_, value) => {
    await expect(verifier.verify(value as never, headers)).rejects.toMatchObject({
      code: 'body_consumed',
      message: expect.stringContaining('must be a Uint8Array') as string,
    });
    await expect(verifySignature(value as never, signature, TEST_SECRET)).rejects.toMatchObject({
      code: 'body_consumed',
    });
  });

  it('may be a view into a larger buffer', async () => {
    const pool = Buffer.concat([Buffer.from('xx'), rawBody, Buffer.from('yy')]);
    await expect(
      verifier.verify(new Uint8Array(pool.buffer, pool.byteOffset + 2, rawBody.length), headers),
    ).resolves.toMatchObject({ reference: 'order-42' });
  });
});

describe('verify and verifySignature', () => {
  it('succeed by resolving and fail by rejecting: no boolean can be misread (F20)', async () => {
    await expect(verifySignature(rawBody, signature, TEST_SECRET)).resolves.toBeUndefined();
    await expect(verifier.verify(rawBody, {})).rejects.toMatchObject(refused);
  });
});

describe('sign', () => {
  it('signs a text as its UTF-8 bytes', async () => {
    const text = '{"reference":"commande-é-🔑"}';
    const expected = mac('sha256', TEST_SECRET, text);
    expect(await sign(text, TEST_SECRET)).toBe(expected);
    expect(await sign(new TextEncoder().encode(text), TEST_SECRET)).toBe(expected);
  });

  it('refuses a parsed body', async () => {
    const parsed = { reference: 'order-42' } as unknown as string;
    await expect(sign(parsed, TEST_SECRET)).rejects.toMatchObject({ code: 'body_consumed' });
  });
});
