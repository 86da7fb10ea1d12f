import { createHash, createHmac } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { createVerifier, isWebhookError, sign, verifySignature } from '../../src/index.js';

const { rawBody, headers, signature } = signedDelivery();
const verifier = createVerifier({ secret: TEST_SECRET });
const refused = { code: 'invalid_signature', status: 401 };
const mac = (algorithm: string, key: string | Uint8Array, data: string | Uint8Array): string =>
  createHmac(algorithm, key).update(data).digest('hex');

describe('a signature', { tags: 'A20' }, () => {
  const forms: readonly [string, unknown][] = [
    ['is missing', undefined],
    ['is empty', ''],
    ['is blank', '   '],
    ['comes twice, joined', `${signature}, ${signature}`],
    ['comes twice, as an array', [signature, signature]],
    ['comes with a forged one in front', `${'0'.repeat(64)}, ${signature}`],
    ['comes with a forged one behind', `${signature},${'0'.repeat(64)}`],
    ['is upper case', signature.toUpperCase()],
    ['has one upper-case digit', signature.replace(/[a-f]/, (digit) => digit.toUpperCase())],
    ['has a blank within', `${signature.slice(0, 32)} ${signature.slice(33)}`],
    ['has blanks around it', ` ${signature} `],
    ['has a line break at its end', `${signature}\n`],
    ['has a line break in place of its last digit', `${signature.slice(0, 63)}\n`],
    ['has the prefix sha256=', `sha256=${signature}`],
    ['has the prefix v1=', `v1=${signature}`],
    ['has the prefix 0x', `0x${signature}`],
    ['is quoted', `"${signature}"`],
    ['is base64', Buffer.from(signature, 'hex').toString('base64')],
    ['is base64url', Buffer.from(signature, 'hex').toString('base64url')],
    ...Array.from({ length: 64 }, (_, length): [string, string] => [
      `is cut to ${length}`,
      signature.slice(0, length),
    ]),
    ...['0', 'zz', '00', ' ', '\0'].map((more): [string, string] => [
      `has ${JSON.stringify(more)} behind it`,
      signature + more,
    ]),
    ['has a first character that is no digit', `g${signature.slice(1)}`],
    ['has a last character that is no digit', `${signature.slice(0, 63)}g`],
    ['has a Latin-1 character', `${signature.slice(0, 63)}é`],
    [
      'has full-width digits',
      signature.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    ],
    [
      'has characters that alias to its digits in Latin-1',
      signature.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0x100)),
    ],
    ['has a dotted capital I', `${signature.slice(0, 63)}\u0130`],
    ['has a control character', `${signature.slice(0, 63)}\u0001`],
    ['is NUL', '\0'.repeat(64)],
    ['is all zeros', '0'.repeat(64)],
    ['is all f', 'f'.repeat(64)],
    ['is that of the empty body', mac('sha256', TEST_SECRET, '')],
    ['is made with an empty key', mac('sha256', '', rawBody)],
    ['is SHA-1', mac('sha1', TEST_SECRET, rawBody)],
    ['is SHA-512', mac('sha512', TEST_SECRET, rawBody)],
    ['is SHA-512 cut to its length', mac('sha512', TEST_SECRET, rawBody).slice(0, 64)],
    [
      'is SHA-256 of secret and body',
      createHash('sha256').update(TEST_SECRET).update(rawBody).digest('hex'),
    ],
    ['is SHA-256 of the body', createHash('sha256').update(rawBody).digest('hex')],
    ['has key and message swapped', mac('sha256', rawBody, TEST_SECRET)],
    ['is an array with the right one', [signature]],
    ['is a number', 42],
    ['is a Buffer', Buffer.from(signature)],
    ['is null', null],
    ['is an object that turns into the right one', { toString: () => signature, length: 64 }],
    ['is a String object', Object(signature)],
    ['is a Proxy', new Proxy({}, { get: () => signature })],
  ];

  it.each(forms)('gets 401 if it %s', async (_, value) => {
    const given = { ...headers, 'x-service-signature': value } as Record<string, string>;
    await expect(verifier.verify(rawBody, given)).rejects.toMatchObject(refused);
    await expect(verifySignature(rawBody, value, TEST_SECRET)).rejects.toMatchObject(refused);
  });

  it('refuses the body with any one bit flipped', async () => {
    for (let bit = 0; bit < rawBody.length * 8; bit++) {
      const changed = Buffer.from(rawBody);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      await expect(verifySignature(changed, signature, TEST_SECRET)).rejects.toMatchObject(refused);
    }
  });

  it.each([
    ['in another key order', '{"b":1,"reference":"a"}', '{"reference":"a","b":1}'],
    ['with other blanks', '{"reference": "a"}', '{"reference":"a"}'],
    ['with other escapes', '{"reference":"\\u00e9"}', '{"reference":"é"}'],
    ['with 1.0 as 1', '{"reference":"a","n":1.0}', '{"reference":"a","n":1}'],
    ['with a line break more', '{"reference":"a"}', '{"reference":"a"}\n'],
    ['with a byte order mark more', '{"reference":"a"}', '\ufeff{"reference":"a"}'],
  ])('refuses a body that came again %s', async (_, sent, received) => {
    const genuine = signedDelivery({ rawBody: sent });
    await expect(verifier.verify(Buffer.from(received), genuine.headers)).rejects.toMatchObject(
      refused,
    );
  });

  it('covers bytes that are not UTF-8, which a text decoder would change', async () => {
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

it(
  'copies its secret, so that later changes of its list and bytes change nothing',
  { tags: 'B10' },
  async () => {
    const bytes = Buffer.from(TEST_SECRET);
    const secret = ['another-secret', bytes];
    const copying = createVerifier({ secret });
    secret.pop();
    bytes.fill(1);
    await expect(copying.verify(rawBody, headers)).resolves.toMatchObject({ secretIndex: 1 });
  },
);

describe('the headers', () => {
  it('may be Fetch Headers', async () => {
    await expect(verifier.verify(rawBody, new Headers(headers))).resolves.toMatchObject({
      reference: 'order-42',
    });
    const repeated = new Headers(headers);
    repeated.append('x-service-signature', signature);
    await expect(verifier.verify(rawBody, repeated)).rejects.toMatchObject(refused);
  });

  it('are found in any case, but not with underscores', async () => {
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

  it('repeat the signature if two spellings have one', async () => {
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

  it('are not read from a prototype', async () => {
    await expect(
      verifier.verify(rawBody, Object.create(headers) as typeof headers),
    ).rejects.toMatchObject(refused);
  });

  it.each([undefined, null, 'x-service-signature', 42])(
    'are refused without a crash if they are %j',
    async (given) => {
      const error: unknown = await verifier
        .verify(rawBody, given as never)
        .catch((thrown: unknown) => thrown);
      expect(isWebhookError(error)).toBe(true);
    },
  );
});

describe('the raw body', () => {
  it('may come from another realm, such as that of a test runner', async () => {
    const foreign = runInNewContext('Uint8Array') as typeof Uint8Array;
    const verified = verifier.verify(foreign.from(rawBody), headers);
    await expect(verified).resolves.toMatchObject({ reference: 'order-42' });
  });

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
  ])(
    'must be bytes: %s is rejected and never serialised',
    { tags: ['F03', 'K05'] },
    async (_, value) => {
      await expect(verifier.verify(value as never, headers)).rejects.toMatchObject({
        code: 'body_consumed',
        message: expect.stringContaining('must be a Uint8Array') as string,
      });
      await expect(verifySignature(value as never, signature, TEST_SECRET)).rejects.toMatchObject({
        code: 'body_consumed',
      });
    },
  );
});

describe('verify and verifySignature', () => {
  it(
    'succeed by resolving and fail by rejecting: no boolean can be misread',
    { tags: 'F20' },
    async () => {
      await expect(verifySignature(rawBody, signature, TEST_SECRET)).resolves.toBeUndefined();
      await expect(verifier.verify(rawBody, {})).rejects.toMatchObject(refused);
    },
  );
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
