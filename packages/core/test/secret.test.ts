import { createHmac, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  ConfigurationError,
  createGate,
  createReceiver,
  createVerifier,
  sign,
  verifySignature,
} from '../src/index.js';
import { createKeyring, type SecretList, type SecretOption } from '../src/secret.js';
import { createLog, deliver, forged, PORTAL_SECRET as secret } from './deliver.js';

const body = Buffer.from('{"reference":"order-42"}');
const PORTAL = secret;

const verify = (option: SecretOption, signed: string | Uint8Array = secret) => {
  const { rawBody, headers } = signedDelivery({ secret: signed });
  return createVerifier({ secret: option }).verify(rawBody, headers);
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

type Fault = readonly [what: string, value: unknown, problem: string];
const placeholders = [
  ...['your-webhook-secret', 'your_webhook_secret', 'YOUR_WEBHOOK_SECRET', 'your webhook secret'],
  ...['your-secret-here', 'my-webhook-secret', 'webhook_secret', 'YOUR_SECRET_KEY', 'the-secret'],
  ...['whsec_your_webhook_secret', 'replace-me', 'payment-secret', 'payments_secret', 'change_me'],
  ...[
    '<your secret>',
    '${WEBHOOK_SECRET}',
    '$WEBHOOK_SECRET',
    '{{ secret }}',
    'process.env.WEBHOOK_SECRET',
  ],
  // Of our own documentation.
  ...['whsec_xxxxxxxx', 'xxx', 'a-secret-of-your-own', 'NaN', '[object Promise]'],
];
const masked = [
  ...['whsec_•••1234', '•••', 'abc…xyz', '9e7c241f…', '…', 'abc***xyz', '***'],
  ...['abc...xyz', '7f3a...9c', '...', 'whsec_...'],
];
const unresolved = [
  ...['$(WEBHOOK_SECRET)', '%WEBHOOK_SECRET%', '${{ secrets.WEBHOOK }}', '#{WEBHOOK}#', '{SECRET}'],
  ...['__WEBHOOK_SECRET__', '@WEBHOOK_SECRET', '$env:WEBHOOK_SECRET', '$SECRET_2', 'env:SECRET'],
  ...["process.env['SECRET']", 'import.meta.env.SECRET', "os.environ['SECRET']", '!secret webhook'],
  ...['arn:aws:secretsmanager:eu-west-1:123456789012:secret:webhook', 'op://vault/item/field'],
  ...[
    '@Microsoft.KeyVault(SecretUri=https://x.example/secrets/webhook)',
    'sm://projects/x/webhook',
  ],
  ...['projects/123/secrets/webhook/versions/latest', 'vault:secret/data/webhook#value'],
  ...['ref+vault://secret/webhook', '{{resolve:secretsmanager:webhook}}', 'ssm:/webhook'],
  ...[
    'ENC[AES256_GCM,data:abc]',
    'secretRef:webhook',
    'file:///run/secrets/webhook',
    'C:\\webhook',
  ],
  ...['/run/secrets/webhook', 'AQICAHh0aGlzIGlzIGEga21z', 'https://shop.example/webhooks'],
];
/** Words of examples and of lists of frequent passwords. */
const guessable = [
  ...['secret', 'my-secret', 'mysecret', 'supersecret', 'SUPER_SECRET', 'whsec_test', 'test'],
  ...['testing', 'dummy', 'example', 'sample', 'password', 'password123', '12345678', 'abc123'],
  ...['foo', 'foobar', 'tbd', 'none', 'n/a', '-', '--', 'true', '0', 'default', 'unset', 'qwerty'],
  ...['insert-your-secret-here', 'replace-with-your-secret', 'test-webhook-secret'],
];
// oxfmt-ignore
const faults: readonly Fault[] = [
  ['undefined', undefined, 'is missing. Did you set WEBHOOK_SECRET?'],
  ['null', null, 'is missing'],
  ['a number', 42, 'must be a string or a Uint8Array'],
  ['an object', { secret }, 'must be a string or a Uint8Array'],
  ['a list in a list', [[secret]], 'must be a string or a Uint8Array'],
  ['a lone surrogate', 'secret-\ud800-secret', 'is not well-formed Unicode'],
  ['an empty string', '', 'is empty: any sender could sign'],
  ['no bytes', new Uint8Array(0), 'is empty'],
  ['blanks only', ' \t', 'is blank'],
  ['a leading blank', ` ${secret}`, 'must not start or end with whitespace'],
  ['a line break at the end', `${secret}\n`, 'must not start or end with whitespace'],
  ['a byte order mark in front', `\ufeff${secret}`, 'must not start or end with whitespace'],
  ...['undefined', 'null', '[object Object]', 'CHANGEME', Buffer.from('undefined')].map(
    (value): Fault => [inspect(value), value, 'is a placeholder. Check how your code reads'],
  ),
  ['an API key', 'sk_live_abc.def', 'is an API key'],
  ['a list of nine', Array.from({ length: 9 }, () => secret), 'must be a list of 1 to 8 secrets'],
  ['an empty list', [], 'must be a list of 1 to 8 secrets'],
  ['a list with a hole', [secret, , secret], 'secret[1] is missing'],
  ['a list with an empty entry', [secret, ''], '[1] is empty'],
  ['a list with a missing entry', [secret, undefined], '[1] is missing'],
  ...['whsec_', 'whsk_', 'v1,', 'base64:', 'hex:', 'WHSEC_'].map(
    (prefix): Fault => [`the bare prefix ${prefix}`, prefix, 'is only the prefix of a secret'],
  ),
  ...placeholders.map((value): Fault => [`the placeholder ${value}`, value, 'is a placeholder']),
  ...unresolved.map((value): Fault => [`the reference ${value}`, value, 'is a placeholder']),
  ...['"7f3a9c41d2e8b650"', "'7f3a9c41d2e8b650'", '`7f3a9c41`', '“7f3a9c41”', '«7f3a9c41»'].map(
    (value): Fault => [`the quoted ${value}`, value, 'is in quotes'],
  ),
  ...['"7f3a9c41",', "'7f3a9c41';", '["7f3a9c41"]', '{"WEBHOOK_SECRET":"7f3a9c41"}'].map(
    (value): Fault => [`the quoted ${value}`, value, 'is in quotes or JSON'],
  ),
  ...['7f3a9c41d2e8b650,', '7f3a9c41d2e8b650;'].map(
    (value): Fault => [`the value of a list ${value}`, value, 'ends with a comma'],
  ),
  ...['MY_KEY:7f3a9c41', '$env:WEBHOOK_SECRET = "7f3a9c41"'].map(
    (value): Fault => [`the line ${value}`, value, 'begins with its own name'],
  ),
  ...['WEBHOOK_SECRET=7f3a9c41', 'export PAYLINK_HOOK=7f3a9c41', 'my_secret: 7f3a9c41', 'MY_KEY = 7f'].map(
    (value): Fault => [`the line ${value}`, value, 'begins with its own name'],
  ),
  ...['Bearer 7f3a9c41', 'Basic YTpi', '-----BEGIN PRIVATE KEY-----'].map(
    (value): Fault => [`the other key ${value}`, value, 'is another kind of key'],
  ),
  ...['7f3a9c41\u200b', '\u200b7f3a9c41', '7f3a\u00ad9c41', '7f3a9c41\u200e'].map(
    (value): Fault => [`${inspect(value)}, copied from a page`, value, 'has an invisible character'],
  ),
  ...masked.map((value): Fault => [`the masked ${value}`, value, 'is masked']),
];

const texts = faults.flatMap(([, value]) => (typeof value === 'string' ? [value] : []));

describe('a word that anybody can guess', { tags: 'R07' }, () => {
  it.each(guessable)('is rejected as a secret in production: %s', (word) => {
    vi.stubEnv('NODE_ENV', 'production');
    for (const secret of [word, Buffer.from(word)])
      expect(() => createVerifier({ secret })).toThrow(ConfigurationError);
  });

  it('works in a test', () => {
    expect(() => createVerifier({ secret: 'secret' })).not.toThrow();
  });
});

it('accepts random secrets of every usual spelling in production', () => {
  vi.stubEnv('NODE_ENV', 'production');
  for (let length = 16; length < 64; length++)
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      for (const prefix of ['', 'whsec_']) {
        const random = prefix + randomBytes(length).toString(encoding);
        expect(() => createVerifier({ secret: random }), random).not.toThrow();
      }
});

describe('an invalid secret', { tags: ['B03', 'B06'] }, () => {
  it.each(texts.filter((text) => !/\p{Surrogate}/u.test(text)))(
    'is refused as bytes too: %j',
    { tags: 'P15' },
    (text) => {
      const bytes = new TextEncoder().encode(text);
      for (const secret of [bytes, Buffer.from(bytes), [PORTAL, bytes]]) {
        expect(() => createVerifier({ secret })).toThrow(ConfigurationError);
      }
    },
  );

  it('is a list whose length a Proxy changes', () => {
    let reads = 0;
    const list = new Proxy<string[]>([], {
      get: (target, name) => (name === 'length' ? reads++ : (Reflect.get(target, name) as unknown)),
    });
    expect(() => createVerifier({ secret: list })).toThrow('must be a list of 1 to 8 secrets');
  });

  it.each(faults)('throws at startup: %s', (_what, value, problem) => {
    const option = value as SecretList;
    for (const make of [
      () => createVerifier({ secret: option }),
      () => createGate({ secret: option }),
      () => createReceiver({ secret: option }, () => undefined),
    ]) {
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(new RegExp(`^secret(\\[\\d])? ?`));
      expect(make).toThrow(problem);
    }
  });

  it('makes sign and verifySignature refuse it too', async () => {
    const verified = verifySignature(body, '0'.repeat(64), 'changeme');
    await expect(verified).rejects.toThrow(ConfigurationError);
    await expect(sign(body, 'changeme')).rejects.toThrow(ConfigurationError);
  });

  it('never lets a body pass that was signed with the empty key', async () => {
    const signature = createHmac('sha256', '').update(body).digest('hex');
    await expect(verifySignature(body, signature, '')).rejects.toThrow(ConfigurationError);
    const verified = verifySignature(body, signature, secret);
    await expect(verified).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it.each([` ${secret}`, 'sk_live_visible.part', `${secret}\ud800`, `whsec_visible…`])(
    'does not quote an invalid secret in its error: %j',
    async (value) => {
      const error: unknown = await sign(body, value).catch((thrown: unknown) => thrown);
      expect(inspect(error, { showHidden: true })).toContain('ConfigurationError');
      expect(inspect(error, { showHidden: true })).not.toMatch(/of-the-portal|visible/);
    },
  );
});

describe('a valid secret', () => {
  it('may be short, which a warning says once in production', { tags: 'B08' }, async () => {
    const log = createLog();
    createVerifier({ secret: 'short', logger: log });
    expect(log.lines()).toEqual([]);
    vi.stubEnv('NODE_ENV', 'production');
    createVerifier({ secret: ['sixteen-bytes-ok', 'fifteen-bytes-k', 'other'], logger: log });
    expect(log.lines()).toEqual([
      '[paylink] secret[1] has fewer than 16 bytes: attackers could guess it',
    ]);
    // Without a logger, nothing warns.
    await expect(
      verifySignature(body, await sign(body, 'short'), 'short'),
    ).resolves.toBeUndefined();
  });

  it('may be the one of @paylink/testing, but not in production', { tags: 'K04' }, () => {
    createVerifier({ secret: TEST_SECRET });
    vi.stubEnv('NODE_ENV', 'production');
    for (const value of [TEST_SECRET, Buffer.from(TEST_SECRET), 'the-secret-of-your-tests']) {
      const problem = 'secret[1] is the public secret from @paylink/testing';
      expect(() => createVerifier({ secret: [secret, value] })).toThrow(problem);
    }
  });

  it.each([
    ...['whsec_c2VjcmV0LWtleQ==', 'v1,c2VjcmV0', 'base64:aGV4', 'hex:00ff', 'another-secret', 'xx'],
    ...['secret', 'yoursecretyoursecret', 'my-shop-7f3a9c', 'the-webhook-secret-of-acme', 'key'],
    ...[
      'test-secret',
      'whsec_test_secret',
      'xxx-7f3a9c',
      '$7f3a9c',
      '<7f3a9c',
      '7f3a9c.',
      '7f3a9cxxx',
    ],
    // With a part that alone would be a placeholder, a prefix or a mask.
    ...['change-whsec_me', 'not-a-placeholder', 'nullify-7f3a9c', '7f3a9c-webhook-secret'],
    ...['7f3a9c$secret', '<7f3a9c>7f3a9c', '7f..3a9c', '7f**3a9c'],
  ])('may resemble a placeholder: %s', async (value) => {
    await expect(verify(value, value)).resolves.toMatchObject({ reference: 'order-42' });
  });

  it(
    'accepts one secret as text, Buffer and Uint8Array: a text stands for its UTF-8 bytes',
    { tags: 'B09' },
    async () => {
      const text = 'clé-secrète-🔑-du-portail';
      for (const form of [text, Buffer.from(text), new TextEncoder().encode(text)]) {
        await expect(verify(form, text)).resolves.toMatchObject({ reference: 'order-42' });
      }
      const bytes = Buffer.from('ff00fe80ff00fe80', 'hex');
      await expect(verify(bytes, bytes)).resolves.toMatchObject({ secretIndex: 0 });
    },
  );

  it(
    'may be a list, of which the event says the index that matched',
    { tags: ['B14', 'B12'] },
    async () => {
      await expect(verify(['new-secret-new-secret', secret])).resolves.toMatchObject({
        secretIndex: 1,
      });
      await expect(verify([secret, secret])).resolves.toMatchObject({ secretIndex: 0 });
    },
  );

  it('may be a list of 8, which refuses every other secret', async () => {
    const list = Array.from({ length: 8 }, (_, index) => `another-secret-${index}`);
    await expect(verify(list)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('keeps the secret out of everything that can be inspected', { tags: 'B17' }, () => {
    const bytes = Buffer.from('bytes-of-the-secret-bytes');
    for (const object of [
      createVerifier({ secret }),
      createReceiver({ secret: [secret, bytes] }, () => undefined),
      createGate({ secret }),
    ]) {
      const shown = inspect(object, { showHidden: true, depth: 20, getters: true });
      expect(shown + JSON.stringify(object)).not.toContain(secret);
      expect(shown).not.toContain(bytes.toString('hex').slice(0, 16));
    }
  });
});

it.each([
  ['production', undefined],
  ['development', PORTAL],
])('keeps the secret for the diagnosis beside the keys in %s as %j', async (env, kept) => {
  vi.stubEnv('NODE_ENV', env);
  const logger = createLog();
  const fixed = createKeyring(PORTAL, logger);
  const provided = createKeyring(() => ({ secret: PORTAL, tenant: null }), logger);
  for (const keyring of [fixed, provided]) expect((await keyring({})).secret).toBe(kept);
});

describe('a secret function', () => {
  const tenant = null;

  it('gives the secret of the host’s merchant, and its tenant is the event’s', async () => {
    const verifier = createVerifier({
      secret: ({ id }: { id: string }) => ({ secret: `the-secret-of-${id}`, tenant: id }),
    });
    const { rawBody, headers } = signedDelivery({ secret: 'the-secret-of-acme' });
    const event = await verifier.verify(rawBody, headers, { id: 'acme' });
    expect(event).toMatchObject({ tenant: 'acme' });
    const other = verifier.verify(rawBody, headers, { id: 'bolt' });
    await expect(other).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  // oxfmt-ignore
  it.each<readonly [string, () => unknown, string]>([
    ['throws', () => {
      throw new Error('vault');
    }, 'failed (Error)'],
    ['rejects', () => Promise.reject(new TypeError('vault')), 'failed (TypeError)'],
    ['returns nothing', () => undefined, 'secret must return { secret, tenant }'],
    ['returns null', () => null, 'secret must return { secret, tenant }'],
    ['returns a bare secret', () => secret, 'secret must return { secret, tenant }'],
    ['returns bare bytes', () => Buffer.from(secret), 'secret must return { secret, tenant }'],
    ['returns a bare list', () => [secret], 'secret must return { secret, tenant }'],
    ['returns no tenant', () => ({ secret }), 'tenant must be a non-empty string, or null'],
    ['returns an empty tenant', () => ({ secret, tenant: '' }), 'tenant must be'],
    ['returns tenant: false', () => ({ secret, tenant: false }), 'tenant must be'],
    ['returns a number as tenant', () => ({ secret, tenant: 7 }), 'tenant must be'],
    ['returns no secret', () => ({ tenant }), 'secret is missing'],
    ['returns an empty secret', () => ({ secret: '', tenant }), 'secret is empty'],
    ['returns an empty list', () => ({ secret: [], tenant }), 'secret must be a list of 1 to 8 secrets'],
    ['returns a placeholder', () => ({ secret: 'undefined', tenant }), 'secret is a placeholder'],
    ['returns a misspelt name', () => ({ secret, tenant, tenent: 1 }), 'tenent is an unknown option'],
  ])('causes 503 if it %s, and never means no secret', { tags: 'B15' }, async (_what, provide, problem) => {
    const error: unknown = await verify(provide as never).catch((thrown: unknown) => thrown);
    const message = expect.stringContaining(problem) as string;
    expect(error).toMatchObject({ code: 'secret_unavailable', status: 503, message });
  });

  it('answers 503 after 5 seconds if it hangs', { tags: 'B15' }, async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const settled = vi.fn();
    const verified = verify(() => new Promise<never>(() => undefined)).finally(settled);
    const refused = expect(verified).rejects.toMatchObject({ code: 'secret_unavailable' });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await refused;
  });

  it('warns once about a short secret, for any number of requests', { tags: 'N16' }, async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const logger = createLog();
    const provide = () => ({ secret: ['short', 'other'], tenant });
    const receiver = createReceiver({ secret: provide, logger }, () => undefined);
    for (let request = 0; request < 20; request++)
      await receiver.receive(deliver({ extra: forged }), {});
    const warnings = logger.lines().filter((line) => line.includes('16 bytes'));
    expect(warnings).toEqual([
      '[paylink] secret[0] has fewer than 16 bytes: attackers could guess it',
    ]);
  });
});
