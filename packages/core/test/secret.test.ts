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
  const faults: readonly (readonly [what: string, id: string, value: unknown, named: RegExp])[] = [
    ['undefined', 'B01', undefined, /^secret is missing/],
    ['null', 'B01', null, /^secret is missing/],
    ['an empty string', 'B02', '', /^secret is empty/],
    ['no bytes', 'B02', new Uint8Array(0), /^secret is empty/],
    ['blanks only', 'B03', ' \t', /^secret is blank/],
    ['a leading blank', 'B03', ` ${secret}`, /must not start or end with whitespace/],
    ['a trailing line break', 'B03', `${secret}\n`, /must not start or end with whitespace/],
    ['a byte order mark in front', 'B03', `\ufeff${secret}`, /must not start or end with whitespace/],
    ['the text undefined', 'B04', 'undefined', /placeholder/],
    ['the text null', 'B04', 'null', /placeholder/],
    ['the text [object Object]', 'B04', '[object Object]', /placeholder/],
    ['changeme', 'B04', 'CHANGEME', /placeholder/],
    ['the bytes of undefined', 'B04', Buffer.from('undefined'), /is a placeholder/],
    ['the bytes of [object Object]', 'B04', Buffer.from('[object Object]'), /is a placeholder/],
    ...['whsec_', 'whsk_', 'v1,', 'base64:', 'hex:', 'WHSEC_'].map(
      (prefix) => [`the bare prefix ${prefix}`, 'N18', prefix, /only the prefix of a secret/] as const,
    ),
    ...[
      ...['your-webhook-secret', 'your_webhook_secret', 'YOUR_WEBHOOK_SECRET', 'your webhook secret', 'your-secret-here'],
      ...['my-webhook-secret', 'webhook_secret', 'YOUR_SECRET_KEY', 'the-secret', 'whsec_your_webhook_secret', 'replace-me'],
      ...['payment-secret', 'payments_secret'],
      ...['change_me', '<your secret>', '${WEBHOOK_SECRET}', '$WEBHOOK_SECRET', '{{ secret }}', 'process.env.WEBHOOK_SECRET'],
      // Those of our own documentation.
      ...['...', '…', '9e7c241f…', 'whsec_...', 'whsec_xxxxxxxx', 'xxx', '***', 'a-secret-of-your-own', 'NaN', '[object Promise]'],
    ].map((value) => [`the placeholder ${value}`, 'N18', value, /is a placeholder/] as const),
    ['an API key', 'B06', 'sk_live_abc.def', /API key/],
    ['an empty list', 'B14', [], /list of 1 to 8/],
    ['a list with an empty entry', 'B14', [secret, ''], /^secret\[1\] is empty/],
    ['a list with a missing entry', 'B14', [secret, undefined], /^secret\[1\] is missing/],
    ['a list of nine', 'B13', Array.from({ length: 9 }, (_, index) => `${secret}-${index}`), /list of 1 to 8/],
    ['a number', 'B01', 42, /must be a string/],
    ['an object', 'B01', { secret }, /must be a string/],
    ['a list in a list', 'B01', [[secret]], /must be a string/],
    ['a lone surrogate', 'B01', 'secret-\ud800-secret', /well-formed/],
  ];

  it.each(faults)('refuses %s at set-up (%s)', (_what, _id, value, named) => {
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

  it.each(faults)('refuses %s in verifySignature and sign (%s)', async (_what, _id, value) => {
    await expect(verifySignature(body, '0'.repeat(64), value as SecretList)).rejects.toThrow(ConfigurationError);
    if (!Array.isArray(value)) await expect(sign(body, value as string)).rejects.toThrow(ConfigurationError);
  });

  it('a body signed with the empty key passes under no secret that can be set up (B02)', async () => {
    const forged = createHmac('sha256', '').update(body).digest('hex');
    await expect(verifySignature(body, forged, '')).rejects.toThrow(ConfigurationError);
    await expect(verifySignature(body, forged, secret)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('names the fault and never the value (B03)', () => {
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
  it('may be short; in production that is logged once (B08)', () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    createVerifier({ secret: 'short', logger });
    expect(logger.warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    createVerifier({ secret: 'short', logger });
    createVerifier({ secret: 'sixteen-bytes-ok', logger });
    expect(logger.warn.mock.calls).toEqual([['[paylink] secret is under 16 bytes, so it could be guessed']]);
  });

  it('may be short for verifySignature and sign too, which have no logger (B08)', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    await expect(verifySignature(body, await sign(body, 'short'), 'short')).resolves.toBeUndefined();
  });

  it('the fixture of @paylink/testing works, but not in production (B07, K04)', () => {
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
  ])('%s is no placeholder (N18)', async (value) => {
    await expect(verify(value, value)).resolves.toMatchObject({ reference: 'order-42' });
  });

  it('means the same as a string, a Buffer or a Uint8Array; a string stands for its UTF-8 bytes (B09)', async () => {
    const text = 'clé-secrète-🔑-du-portail';
    for (const form of [text, Buffer.from(text), new TextEncoder().encode(text)]) {
      await expect(verify(form, text)).resolves.toMatchObject({ reference: 'order-42' });
    }
    const bytes = Buffer.from('ff00fe80ff00fe80', 'hex');
    await expect(verify(bytes, bytes)).resolves.toMatchObject({ secretIndex: 0 });
  });

  it('stays as it was when the caller changes the Buffer or the list afterwards (B10)', async () => {
    const bytes = Buffer.from(secret);
    const list: Uint8Array[] = [bytes];
    const verifier = createVerifier({ secret: list });
    bytes.fill(0);
    list[0] = Buffer.from('another-secret');
    const { rawBody, headers } = signedDelivery({ secret });
    await expect(verifier.verify(rawBody, headers)).resolves.toMatchObject({ reference: 'order-42' });
  });

  it('a list accepts what any of its secrets signed, and tells which (B12, B14)', async () => {
    await expect(verify(['new-secret-new-secret', secret])).resolves.toMatchObject({ secretIndex: 1 });
    await expect(verify([secret, secret])).resolves.toMatchObject({ secretIndex: 0 });
  });

  it('a list of 1 to 8 refuses what none of them signed (B13)', async () => {
    for (let count = 1; count <= 8; count++) {
      const list = Array.from({ length: count }, (_, index) => `another-secret-${index}`);
      await expect(verify(list)).rejects.toMatchObject({ code: 'invalid_signature', status: 401 });
    }
  });

  it('shows in nothing that can be looked at (B17)', () => {
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

  it('cannot tell staging from production: the same secret accepts the same delivery (B16)', async () => {
    await expect(verify(secret)).resolves.toMatchObject({ type: 'payment.succeeded' });
  });
});

describe('a secret that a function gives', () => {
  it('is given the host, so that a tenant has a secret of its own (H12)', async () => {
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
  it.each(failing)('that %s is 503, and never "no secret" (B15)', async (_, provider) => {
    await expect(verify(provider)).rejects.toMatchObject({ code: 'secret_unavailable', status: 503 });
  });

  it('that hangs is 503 after 5 s (B15)', async () => {
    vi.useFakeTimers();
    const verified = verify(() => new Promise<string>(() => undefined));
    const settled = expect(verified).rejects.toMatchObject({ code: 'secret_unavailable' });
    await vi.advanceTimersByTimeAsync(5_000);
    await settled;
    vi.useRealTimers();
  });

  it('is logged by what it threw, without its words, which could quote the secret (B15)', async () => {
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
