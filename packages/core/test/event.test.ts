import { signedDelivery, TEST_SECRET, type SignedDeliveryOptions } from '@paylink/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createVerifier, type EventSchemas, type StandardSchema } from '../src/index.js';

afterEach(() => {
  vi.useRealTimers();
});

const verify = (options: SignedDeliveryOptions, events: EventSchemas = {}, extra = {}) => {
  const { rawBody, headers } = signedDelivery(options);
  return createVerifier({ secret: TEST_SECRET, events }).verify(rawBody, { ...headers, ...extra });
};

describe('a signed body that is not an event', () => {
  it.each<readonly [string, string | Uint8Array]>([
    ['has a byte order mark in front', '\ufeff{"reference":"a"}'],
    ['is empty', ''],
    ['is not UTF-8', Buffer.from('{"reference":"\xff"}', 'latin1')],
    ['has an overlong encoding', Buffer.from('7b227265666572656e6365223a22c0af227d', 'hex')],
    ['is UTF-16', Buffer.from('{"reference":"a"}', 'utf16le')],
    ['is not JSON', '{"reference":"a"'],
    ['has more behind the JSON', '{"reference":"a"} {}'],
    ['is null', 'null'],
    ['is an array', '[{"reference":"a"}]'],
    ['is a string', '"reference"'],
    ['is a number', '1'],
    ['is a boolean', 'true'],
    ['has no reference', '{}'],
    ['has a reference that is null', '{"reference":null}'],
    ['has a reference that is a number', '{"reference":42}'],
    ['has a reference that is an object', '{"reference":{}}'],
    ['has a reference that is an array', '{"reference":["a"]}'],
    ['has an empty reference', '{"reference":""}'],
    ['has a blank reference', '{"reference":" \\t\\n"}'],
    ['has a reference with NUL', '{"reference":"a\\u0000b"}'],
    ['has a reference with an unpaired surrogate', '{"reference":"a\\ud800"}'],
    ['inherits its reference', '{"__proto__":{"reference":"a"}}'],
  ])(
    'rejects a signed body as invalid_payload, without quoting it, if it %s',
    async (_what, rawBody) => {
      const error: unknown = await verify({ rawBody }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid_payload' });
      const problem =
        /^the signed body (is not UTF-8|is not JSON|is not a JSON object|is invalid: `reference` .+)$/;
      expect((error as Error).message).toMatch(problem);
      expect((error as Error).cause).toBeUndefined();
    },
  );

  it('reads or refuses a body nested 100,000 deep without a crash', async () => {
    for (const inner of ['', '{"__proto__":1}']) {
      const [open, close] = ['['.repeat(100_000), ']'.repeat(100_000)];
      const rawBody = `{"reference":"a","deep":${open}${inner}${close}}`;
      const outcome = await verify({ rawBody }).then(
        ({ reference }) => reference,
        (error: unknown) => (error as { code: string }).code,
      );
      expect(['a', 'invalid_payload']).toContain(outcome);
    }
  });
});

describe('an event', () => {
  it('has type, reference, payload, raw body, the index of the secret and the tenant', async () => {
    const { rawBody, headers } = signedDelivery({ payload: { amount: 5000 } });
    const event = await createVerifier({ secret: TEST_SECRET }).verify(rawBody, headers);
    expect({ ...event, rawBody: new Uint8Array(event.rawBody) }).toStrictEqual({
      type: 'payment.succeeded',
      reference: 'order-42',
      payload: { reference: 'order-42', amount: 5000 },
      rawBody: new Uint8Array(rawBody),
      secretIndex: 0,
      tenant: null,
    });
  });

  it.each([
    ...['x'.repeat(10_000), '../../etc', 'a/b?c#d', 'é🙂', ' with blanks ', 'line\nbreak\t\u0001'],
    ...['__proto__', 'constructor', '1'],
  ])('has the reference as it was sent: %j', async (reference) => {
    await expect(verify({ reference })).resolves.toMatchObject({ reference });
  });

  it.each([
    ['pretty-printed', '{\n  "reference": "order-42"\n}'],
    ['with a line break at the end', '{"reference":"order-42"}\n'],
    ['with two references, of which the last counts', '{"reference":"a","reference":"order-42"}'],
    [
      'with numbers that JSON cannot hold',
      '{"reference":"order-42","a":1e400,"b":12345678901234567890}',
    ],
    ['with an escaped key', '{"\\u0072eference":"order-42"}'],
  ])('may be %s', async (_what, rawBody) => {
    await expect(verify({ rawBody })).resolves.toMatchObject({ reference: 'order-42' });
  });

  it.each([
    '{"reference":"a","__proto__":{"polluted":true}}',
    '{"reference":"a","\\u005f_proto__":{"polluted":true}}',
    '{"reference":"a","__pr\\u006fto__":{"polluted":true}}',
    '{"reference":"a","__\\u0070roto__":{"polluted":true}}',
    '{"reference":"a","deep":[{"__proto__":{"polluted":true}}]}',
    '{"reference":"a","constructor":{"prototype":{"polluted":true}}}',
    '{"reference":"a","con\\u0073tructor":{"prototype":{"polluted":true}}}',
  ])('has no key that could change a prototype: %s', async (rawBody) => {
    const { payload } = await verify({ rawBody });
    const copy = Object.assign({}, payload as object) as { polluted?: unknown };
    expect(copy.polluted).toBeUndefined();
    expect(Object.hasOwn(payload as object, '__proto__')).toBe(false);
    expect(JSON.stringify(payload)).not.toContain('polluted');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.isFrozen(payload)).toBe(true);
  });

  it('keeps a harmless key named constructor, prototype or proto', async () => {
    const payload = {
      reference: 'a',
      constructor: 'Renault',
      prototype: 'R4',
      proto: { prototype: 1 },
    };
    const event = await verify({ rawBody: JSON.stringify(payload) });
    expect(event.payload).toEqual(payload);
  });
});

describe('the event header', () => {
  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['blank', '  '],
    ['too long', 'a'.repeat(129)],
    ['with a line break', 'payment.succeeded\n'],
    ['with a blank', 'payment succeeded'],
    ['not ASCII', 'payment.réussi'],
    ['in capitals', 'Payment.Succeeded'],
    ['repeated and joined', 'payment.succeeded, payment.succeeded'],
    ['repeated as an array', ['payment.succeeded']],
  ])('rejects an event header as invalid_event if it is %s', async (_what, value) => {
    const verified = verify({}, {}, { 'x-service-event': value });
    await expect(verified).rejects.toMatchObject({ code: 'invalid_event' });
  });

  it.each(['payment.refunded', 'constructor', '__proto__', 'unrecognized', '-', 'a'.repeat(128)])(
    'gives an unrecognized event for the kind %s, which is not configured',
    async (type) => {
      const event = { type: 'unrecognized', kind: type, reference: 'order-42' };
      await expect(verify({ type })).resolves.toMatchObject(event);
    },
  );

  it('may have another name, and so may the signature', async () => {
    const headers = { signature: 'X-Other-Signature', event: 'X-Other-Event' };
    const delivery = signedDelivery({ headers });
    const verifier = createVerifier({ secret: TEST_SECRET, headers });
    const verified = verifier.verify(delivery.rawBody, delivery.headers);
    await expect(verified).resolves.toMatchObject({ type: 'payment.succeeded' });
    const usual = verifier.verify(delivery.rawBody, signedDelivery().headers);
    await expect(usual).rejects.toMatchObject({ code: 'invalid_signature' });
  });
});

describe('a status in the signed body', () => {
  it('contradicts payment.succeeded also if that kind has a schema', async () => {
    const events = { 'payment.succeeded': z.object({ reference: z.string() }) };
    for (const [status, code] of [
      ['failed', 'event_contradicted'],
      ['pending', 'payment_pending'],
    ]) {
      await expect(verify({ payload: { status } }, events)).rejects.toMatchObject({ code });
    }
  });

  it.each([{ status: 'success' }, { status: 'whatever' }, { status: 1 }, { state: 'failed' }])(
    'contradicts nothing if it is %j',
    async (payload) => {
      await expect(verify({ payload })).resolves.toMatchObject({ type: 'payment.succeeded' });
    },
  );

  it('means nothing to core under another kind', async () => {
    const event = verify({ type: 'payment.failed', payload: { status: 'failed' } });
    await expect(event).resolves.toMatchObject({ kind: 'payment.failed' });
  });
});

describe('a schema', () => {
  const refund = z.object({ reference: z.string(), amount: z.string().transform(Number) });
  const events = { 'payment.refunded': refund };
  const schemaOf = (validate: StandardSchema['~standard']['validate']) => ({
    'payment.succeeded': { '~standard': { version: 1, vendor: 'test', validate } } as const,
  });

  it('makes the payload of its kind', async () => {
    const payload = { amount: '5000', other: 1 };
    const event = await verify({ type: 'payment.refunded', payload }, events);
    expect(event).toMatchObject({ type: 'payment.refunded', reference: 'order-42' });
    expect(event.payload).toEqual({ reference: 'order-42', amount: 5000 });
  });

  it('refuses a payload without quoting it', async () => {
    const refused = verify({ type: 'payment.refunded', payload: { amount: 4242 } }, events);
    const message = 'the signed body does not match the schema of its kind';
    await expect(refused).rejects.toMatchObject({ code: 'invalid_payload', message });
  });

  it('cannot replace the reference', async () => {
    const hostile = z.object({}).transform(() => ({ reference: 'another' }));
    const event = await verify({}, { 'payment.succeeded': hostile });
    expect(event).toMatchObject({ reference: 'order-42', payload: { reference: 'another' } });
  });

  it('may be asynchronous', async () => {
    const event = await verify(
      {},
      schemaOf((value) => Promise.resolve({ value })),
    );
    expect(event).toMatchObject({ reference: 'order-42' });
  });

  it('gets 503 handler_timeout if it hangs for 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const hanging = schemaOf(() => {
      begin();
      return new Promise(() => undefined);
    });
    const settled = vi.fn();
    const verified = verify({}, hanging).finally(settled);
    const message = 'the schema of payment.succeeded took over 5000 ms';
    const refused = expect(verified).rejects.toMatchObject({ code: 'handler_timeout', message });
    await begun;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await refused;
  });

  it('passes on what it throws: its bug is not an invalid payload', async () => {
    const bug = new RangeError('bug');
    const throwing = schemaOf(() => {
      throw bug;
    });
    await expect(verify({}, throwing)).rejects.toBe(bug);
  });

  it.each([
    ['Payment.Refunded', refund],
    ['', refund],
    ['unrecognized', refund],
    ['a b', refund],
    ['payment.refunded', {}],
    ['payment.refunded', undefined],
  ])('throws at startup under the kind %j, or if it is not a Standard Schema', (kind, schema) => {
    const invalid = { [kind]: schema as StandardSchema };
    expect(() => createVerifier({ secret: TEST_SECRET, events: invalid })).toThrow(
      `events['${kind}']`,
    );
  });
});
