import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import {
  ConfigurationError,
  createReceiver,
  createVerifier,
  sign,
  verifySignature,
  type SecretList,
  type SecretOption,
} from '../src/index.js';

const secret = 'a-secret-of-the-portal';
const body = Buffer.from('{"reference":"order-42"}');

const verify = (option: SecretOption, signed: string | Uint8Array = secret) => {
  const { rawBody, headers } = signedDelivery({ secret: signed });
  return createVerifier({ secret: option }).verify(rawBody, headers);
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('a secret that cannot be one', () => {
  const faults: readonly (readonly [id: string, what: string, value: unknown, named: RegExp])[] = [
    ['B01', 'undefined', undefined, /^secret is missing/],
    ['B01', 'null', null, /^secret is missing/],
    ['B02', 'an empty string', '', /^secret is empty/],
    ['B02', 'no bytes', new Uint8Array(0), /^secret is empty/],
    ['B03', 'blanks only', ' \t', /^secret is blank/],
    ['B03', 'a leading blank', ` ${secret}`, /must not start or end with whitespace/],
    ['B03', 'a trailing line break', `${secret}\n`, /must not start or end with whitespace/],
    ['B03', 'a byte order mark in front', `\ufeff${secret}`, /must not start or end with whitespace/],
    ['B04', 'the text undefined', 'undefined', /placeholder/],
    ['B04', 'the text null', 'null', /placeholder/],
    ['B04', 'the text [object Object]', '[object Object]', /placeholder/],
    ['B04', 'changeme', 'CHANGEME', /placeholder/],
    ...['whsec_', 'whsk_', 'v1,', 'base64:', 'hex:', 'WHSEC_'].map(
      (prefix) => ['N18', `the bare prefix ${prefix}`, prefix, /only the prefix of a secret/] as const,
    ),
    ...[
      ...['your-webhook-secret', 'your_webhook_secret', 'YOUR_WEBHOOK_SECRET', 'your webhook secret', 'your-secret-here'],
      ...['my-webhook-secret', 'webhook_secret', 'YOUR_SECRET_KEY', 'the-secret', 'whsec_your_webhook_secret', 'replace-me'],
      ...['payment-secret', 'payments_secret'],
      ...['change_me', '<your secret>', '${WEBHOOK_SECRET}', '$WEBHOOK_SECRET', '{{ secret }}', 'process.env.WEBHOOK_SECRET'],
      // Those of our own documentation.
      ...['...', '…', '9e7c241f…', 'whsec_...', 'whsec_xxxxxxxx', 'xxx', '***', 'a-secret-of-your-own', 'NaN', '[object Promise]'],
    ].map((value) => ['N18', `the placeholder ${value}`, value, /is a placeholder/] as const),
    ['B06', 'an API key', 'sk_live_abc.def', /API key/],
    ['B14', 'an empty list', [], /list of 1 to 8/],
    ['B14', 'a list with an empty entry', [secret, ''], /^secret\[1\] is empty/],
    ['B14', 'a list with a missing entry', [secret, undefined], /^secret\[1\] is missing/],
    ['B13', 'a list of nine', Array.from({ length: 9 }, (_, index) => `${secret}-${index}`), /list of 1 to 8/],
    ['B01', 'a number', 42, /must be a string/],
    ['B01', 'an object', { secret }, /must be a string/],
    ['B01', 'a list in a list', [[secret]], /must be a string/],
    ['B01', 'a lone surrogate', 'secret-\ud800-secret', /well-formed/],
  ];

  it.each(faults)('%s is refused at set-up: %s', (_id, _what, value, named) => {
    const option = value as SecretList;
    for (const make of [
      () => createVerifier({ secret: option }),
      () => createReceiver({ secret: option }),
      () => createReceiver({ secret: option }, () => undefined),
    ]) {
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(named);
      expect(make).toThrow(expect.objectContaining({ code: 'misconfigured', option: expect.stringMatching(/^secret/) as string }));
    }
  });

  it.each(faults)('%s is refused by verifySignature and sign: %s', async (_id, _what, value) => {
    await expect(verifySignature(body, '0'.repeat(64), value as SecretList)).rejects.toThrow(ConfigurationError);
    if (!Array.isArray(value)) await expect(sign(body, value as string)).rejects.toThrow(ConfigurationError);
  });

  it('B02 a body signed with the empty key passes under no secret that can be set up', async () => {
    const forged = createHmac('sha256', '').update(body).digest('hex');
    await expect(verifySignature(body, forged, '')).rejects.toThrow(ConfigurationError);
    await expect(verifySignature(body, forged, secret)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('B03 names the fault and never the value', () => {
    for (const value of [` ${secret}`, 'sk_live_visible.part', `${secret}\ud800`]) {
      try {
        createVerifier({ secret: value });
        expect.unreachable();
      } catch (error) {
        expect(inspect(error, { showHidden: true })).not.toMatch(/of-the-portal|visible/);
      }
    }
  });
});

describe('a secret that works', () => {
  it('B08 may be short; in production that is logged once', () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    createVerifier({ secret: 'short', logger });
    expect(logger.warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    createVerifier({ secret: 'short', logger });
    createVerifier({ secret: 'sixteen-bytes-ok', logger });
    expect(logger.warn.mock.calls).toEqual([['[paylink] secret is under 16 bytes, so it could be guessed']]);
  });

  it('B08 may be short for verifySignature and sign too, which have no logger', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    await expect(verifySignature(body, await sign(body, 'short'), 'short')).resolves.toBeUndefined();
  });

  it('B07 K04 the fixture of @paylink/testing works, but not in production', () => {
    createVerifier({ secret: TEST_SECRET });
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => createVerifier({ secret: TEST_SECRET })).toThrow(/public/);
    expect(() => createVerifier({ secret: Buffer.from(TEST_SECRET) })).toThrow(/public/);
    expect(() => createVerifier({ secret: [secret, TEST_SECRET] })).toThrow(/^secret\[1\] is the public one/);
    expect(() => createVerifier({ secret: 'the-secret-of-your-tests' })).toThrow(/public/);
  });

  it.each([
    ...['whsec_c2VjcmV0LWtleQ==', 'v1,c2VjcmV0', 'base64:aGV4', 'hex:00ff', 'another-secret', 'a-secret-of-the-portal', 'xx'],
    ...[
      'secret',
      'yoursecretyoursecret',
      'my-shop-7f3a9c',
      'the-webhook-secret-of-acme',
      'key',
      'test-secret',
      'whsec_test_secret',
      'xxx-7f3a9c',
      '$7f3a9c',
      '<7f3a9c',
    ],
    // A placeholder, or a prefix, in a part of it.
    ...['change-whsec_me', 'not-a-placeholder', 'nullify-7f3a9c', '7f3a9c-webhook-secret', '7f3a9c$secret', '<7f3a9c>7f3a9c'],
    ...['7f3a...9c', '7f3a9c.', '7f3a9cxxx'],
  ])('N18 %s is no placeholder', async (value) => {
    await expect(verify(value, value)).resolves.toMatchObject({ reference: 'order-42' });
  });

  it('B09 means the same as a string, a Buffer or a Uint8Array; a string stands for its UTF-8 bytes', async () => {
    const text = 'clé-secrète-🔑-du-portail';
    for (const form of [text, Buffer.from(text), new TextEncoder().encode(text)]) {
      await expect(verify(form, text)).resolves.toMatchObject({ reference: 'order-42' });
    }
    const bytes = Buffer.from('ff00fe80ff00fe80', 'hex');
    await expect(verify(bytes, bytes)).resolves.toMatchObject({ secretIndex: 0 });
  });

  it('B10 stays as it was when the caller changes the Buffer or the list afterwards', async () => {
    const bytes = Buffer.from(secret);
    const list: Uint8Array[] = [bytes];
    const verifier = createVerifier({ secret: list });
    bytes.fill(0);
    list[0] = Buffer.from('another-secret');
    const { rawBody, headers } = signedDelivery({ secret });
    await expect(verifier.verify(rawBody, headers)).resolves.toMatchObject({ reference: 'order-42' });
  });

  it('B12 B14 a list accepts what any of its secrets signed, and tells which', async () => {
    await expect(verify(['new-secret-new-secret', secret])).resolves.toMatchObject({ secretIndex: 1 });
    await expect(verify([secret, secret])).resolves.toMatchObject({ secretIndex: 0 });
  });

  it('B13 a list of 1 to 8 refuses what none of them signed', async () => {
    for (let count = 1; count <= 8; count++) {
      const list = Array.from({ length: count }, (_, index) => `another-secret-${index}`);
      await expect(verify(list)).rejects.toMatchObject({ code: 'invalid_signature', status: 401 });
    }
  });

  it('B17 shows in nothing that can be looked at', () => {
    const secretBytes = Buffer.from('bytes-of-the-secret-bytes');
    const seen = [
      createVerifier({ secret }),
      createReceiver({ secret: [secret, secretBytes] }, () => undefined),
      createReceiver({ secret }),
    ];
    for (const object of seen) {
      const shown = inspect(object, { showHidden: true, depth: 20, getters: true }) + JSON.stringify(object);
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(secretBytes.toString('hex').slice(0, 16));
    }
  });

  it('B16 cannot tell staging from production: the same secret accepts the same delivery', async () => {
    await expect(verify(secret)).resolves.toMatchObject({ type: 'payment.succeeded' });
  });
});

describe('a secret that a function gives', () => {
  it('H12 is given the host, so that a tenant has a secret of its own', async () => {
    const verifier = createVerifier({
      secret: ({ tenant }: { tenant: string }) => (tenant === 'a' ? 'secret-of-tenant-a' : 'secret-of-tenant-b'),
    });
    const { rawBody, headers } = signedDelivery({ secret: 'secret-of-tenant-a' });
    await expect(verifier.verify(rawBody, headers, { tenant: 'a' })).resolves.toMatchObject({ reference: 'order-42' });
    await expect(verifier.verify(rawBody, headers, { tenant: 'b' })).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('may be a promise, and a list', async () => {
    await expect(verify(() => Promise.resolve(['another-secret', secret]))).resolves.toMatchObject({ secretIndex: 1 });
  });

  const failing: readonly [string, () => SecretList | Promise<SecretList>][] = [
    [
      'throws',
      () => {
        throw new Error(`vault refused ${secret}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`vault refused ${secret}`))],
    ['gives nothing', () => undefined],
    ['gives an empty string', () => ''],
    ['gives an empty list', () => []],
    ['gives a placeholder', () => Promise.resolve('undefined')],
  ];
  it.each(failing)('B15 that %s is 503, and never "no secret"', async (_, provider) => {
    await expect(verify(provider)).rejects.toMatchObject({ code: 'secret_unavailable', status: 503 });
  });

  it('B15 that hangs is 503 after 5 s', async () => {
    vi.useFakeTimers();
    const verified = verify(() => new Promise<string>(() => undefined));
    const settled = expect(verified).rejects.toMatchObject({ code: 'secret_unavailable' });
    await vi.advanceTimersByTimeAsync(5_000);
    await settled;
    vi.useRealTimers();
  });

  it('B15 is logged by what it threw, without its words, which could quote the secret', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const receiver = createReceiver(
      { secret: () => Promise.reject(new Error(`vault refused ${secret}`)), logger },
      () => undefined,
    );
    const { rawBody, headers } = signedDelivery({ secret });
    const reply = await receiver.receive({ header: (name) => headers[name], body: () => Promise.resolve(rawBody) }, {});
    expect(reply).toMatchObject({ status: 503, body: '{"error":"secret_unavailable"}', headers: { 'retry-after': '5' } });
    expect(logger.error.mock.calls.flat().join()).toBe(
      '[paylink] 503 secret_unavailable: the function given as `secret` failed (Error). See docs/errors.md#secret_unavailable',
    );
  });
});
