import { afterEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDeliveryOptions } from '@paylink/testing';
import { z } from 'zod';
import { createVerifier, type EventSchemas, type StandardSchema } from '../src/index.js';

afterEach(() => {
  vi.useRealTimers();
});

const verify = (options: SignedDeliveryOptions, events: EventSchemas = {}, extra: Record<string, string> = {}) => {
  const { rawBody, headers } = signedDelivery(options);
  return createVerifier({ secret: TEST_SECRET, events }).verify(rawBody, { ...headers, ...extra });
};

describe('a signed body that is no event', () => {
  const bodies: readonly [string, string | Uint8Array][] = [
    ['has a byte order mark in front (C06)', '\ufeff{"reference":"a"}'],
    ['is empty (C09)', ''],
    ['is not UTF-8 (C11)', Buffer.from('{"reference":"\xff"}', 'latin1')],
    ['has an overlong encoding (C11)', Buffer.from('7b227265666572656e6365223a22c0af227d', 'hex')],
    ['is UTF-16 (C12)', Buffer.from('{"reference":"a"}', 'utf16le')],
    ['is not JSON (C13)', '{"reference":"a"'],
    ['has something behind the JSON (C13)', '{"reference":"a"} {}'],
    ['is null (C14)', 'null'],
    ['is an array (C14)', '[{"reference":"a"}]'],
    ['is a string (C14)', '"reference"'],
    ['is a number (C14)', '1'],
    ['is a boolean (C14)', 'true'],
    ['has no reference (C15)', '{}'],
    ['has a reference that is null (C15)', '{"reference":null}'],
    ['has a reference that is a number (C15)', '{"reference":42}'],
    ['has a reference that is an object (C15)', '{"reference":{}}'],
    ['has a reference that is an array (C15)', '{"reference":["a"]}'],
    ['has an empty reference (C15)', '{"reference":""}'],
    ['has a blank reference (C15)', '{"reference":" \\t\\n"}'],
    ['has a reference with NUL (C16)', '{"reference":"a\\u0000b"}'],
    ['has a reference with a lone surrogate (C16)', '{"reference":"a\\ud800"}'],
    ['has a reference that is a lone surrogate (C16)', '{"reference":"\\udfff"}'],
    ['inherits its reference (C19)', '{"__proto__":{"reference":"a"}}'],
  ];
  it.each(bodies)('%s: 400 invalid_payload, and the message does not quote it', async (_, rawBody) => {
    const error: unknown = await verify({ rawBody }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_payload', status: 400 });
    expect((error as Error).message).toMatch(/^the signed body (is|has) no/);
    expect((error as Error).message).toMatch(/^[\x20-\x7e]*$/);
    expect((error as Error).cause).toBeUndefined();
  });

  it.each([
    ['{', 'the signed body is not UTF-8, or not JSON'],
    ['"reference"', 'the signed body is not a JSON object'],
    ['null', 'the signed body is not a JSON object'],
    ['[]', 'the signed body is not a JSON object'],
    ['{}', 'the signed body has no `reference` that is a non-blank string without NUL and lone surrogates'],
  ])('says in the log what %s is not', async (rawBody, message) => {
    await expect(verify({ rawBody })).rejects.toMatchObject({ message });
  });

  it('nested 500,000 deep is read or refused, and crashes nothing (C20)', async () => {
    for (const depth of [10_000, 500_000]) {
      for (const inner of ['', '{"__proto__":1}']) {
        const rawBody = `{"reference":"a","deep":${'['.repeat(depth)}${inner}${']'.repeat(depth)}}`;
        const outcome = await verify({ rawBody }).then(
          ({ reference }) => reference,
          (error: unknown) => (error as { code: string }).code,
        );
        expect(['a', 'invalid_payload']).toContain(outcome);
      }
    }
  });
});

describe('an event', () => {
  it('has type, reference, payload, raw body and the index of the secret', async () => {
    const { rawBody, headers } = signedDelivery({ payload: { amount: 5000 } });
    const event = await createVerifier({ secret: TEST_SECRET }).verify(rawBody, headers);
    expect(event).toEqual({
      type: 'payment.succeeded',
      reference: 'order-42',
      payload: { reference: 'order-42', amount: 5000 },
      rawBody: expect.anything() as Uint8Array,
      secretIndex: 0,
    });
    expect(Buffer.from(event.rawBody)).toEqual(rawBody);
  });

  const references = [
    'x'.repeat(10_000),
    '../../etc',
    'a/b?c#d',
    'é🙂',
    ' with blanks ',
    'line\nbreak\t\u0001',
    '__proto__',
    'constructor',
    '1',
  ];
  it.each(references)('hands the reference on as it is: %j (C16)', async (reference) => {
    await expect(verify({ reference })).resolves.toMatchObject({ reference });
  });

  it.each([
    ['pretty-printed (C03)', '{\n  "reference": "order-42"\n}'],
    ['with a line break at the end (C08)', '{"reference":"order-42"}\n'],
    ['with the reference twice: the last counts (C18)', '{"reference":"a","reference":"order-42"}'],
    ['with numbers that JSON cannot hold (C21)', '{"reference":"order-42","amount":1e400,"id":12345678901234567890,"zero":-0}'],
    ['with the key in escapes', '{"\\u0072eference":"order-42"}'],
  ])('may be %s', async (_, rawBody) => {
    await expect(verify({ rawBody })).resolves.toMatchObject({ reference: 'order-42' });
  });

  it.each(['', '"\\u00e9"'])('may be nested 100,000 deep where no key can name a prototype: around %j (C20)', async (inner) => {
    const rawBody = `{"reference":"a","deep":${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}}`;
    await expect(verify({ rawBody })).resolves.toMatchObject({ reference: 'a' });
  });

  const armed = [
    '{"reference":"a","__proto__":{"polluted":true}}',
    '{"reference":"a","\\u005f_proto__":{"polluted":true}}',
    '{"reference":"a","__pr\\u006fto__":{"polluted":true}}',
    '{"reference":"a","__\\u0070roto__":{"polluted":true}}',
    '{"reference":"a","deep":[{"__proto__":{"polluted":true}}]}',
    '{"reference":"a","constructor":{"prototype":{"polluted":true}}}',
    '{"reference":"a","con\\u0073tructor":{"prototype":{"polluted":true}}}',
  ];
  it.each(armed)('is inert whatever keys it has: %s (C19, J08)', async (rawBody) => {
    const { payload } = await verify({ rawBody });
    const copy = Object.assign({}, payload as object) as { polluted?: unknown };
    expect(copy.polluted).toBeUndefined();
    expect(Object.hasOwn(payload as object, '__proto__')).toBe(false);
    expect(JSON.stringify(payload)).not.toContain('polluted');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.isFrozen(payload)).toBe(true);
  });

  it('keeps a harmless key named constructor, prototype or proto (C19)', async () => {
    const payload = { reference: 'order-42', constructor: 'Renault', prototype: 'R4', proto: { prototype: 1 }, none: null };
    const event = await verify({ rawBody: JSON.stringify(payload) });
    expect(event.payload).toEqual(payload);
  });
});

describe('the event header', () => {
  const bad: readonly [what: string, id: string, value: string | string[] | undefined][] = [
    ['absent', 'E01', undefined],
    ['empty', 'E02', ''],
    ['blank', 'E02', '  '],
    ['too long', 'E02', 'a'.repeat(129)],
    ['with a line break', 'E02', 'payment.succeeded\n'],
    ['with a blank', 'E02', 'payment succeeded'],
    ['not ASCII', 'E02', 'payment.réussi'],
    ['in capitals', 'E05', 'Payment.Succeeded'],
    ['repeated and joined', 'E02', 'payment.succeeded, payment.succeeded'],
    ['repeated as an array', 'E02', ['payment.succeeded']],
  ];
  it.each(bad)('is refused with 400 when it is %s (%s)', async (_what, _id, value) => {
    const { rawBody, headers } = signedDelivery();
    const verified = createVerifier({ secret: TEST_SECRET }).verify(rawBody, { ...headers, 'x-service-event': value });
    await expect(verified).rejects.toMatchObject({ code: 'invalid_event', status: 400 });
  });

  it('is not looked at before the signature is right', async () => {
    const { rawBody, headers } = signedDelivery();
    const verified = createVerifier({ secret: 'another-secret' }).verify(rawBody, { ...headers, 'x-service-event': '\n' });
    await expect(verified).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it.each(['payment.refunded', 'constructor', '__proto__', 'unrecognized', '-', 'a'.repeat(128)])(
    'of a kind that is not configured gives an unrecognized event: %s (E04)',
    async (type) => {
      await expect(verify({ type })).resolves.toMatchObject({ type: 'unrecognized', kind: type, reference: 'order-42' });
    },
  );

  it('may have other names, and so may the signature', async () => {
    const headers = { signature: 'X-Other-Signature', event: 'X-Other-Event' };
    const delivery = signedDelivery({ headers });
    const verifier = createVerifier({ secret: TEST_SECRET, headers });
    await expect(verifier.verify(delivery.rawBody, delivery.headers)).resolves.toMatchObject({ type: 'payment.succeeded' });
    await expect(verifier.verify(delivery.rawBody, signedDelivery().headers)).rejects.toMatchObject({ code: 'invalid_signature' });
  });
});

describe('a status in the signed body', () => {
  it.each([
    ['failed', 'event_contradicted', 400],
    ['cancelled', 'event_contradicted', 400],
    ['pending', 'payment_pending', 503],
  ])('that says %s under payment.succeeded is %s (C24, E08)', async (status, code, http) => {
    await expect(verify({ payload: { status } })).rejects.toMatchObject({ code, status: http });
    const schema = z.object({ reference: z.string() });
    await expect(verify({ payload: { status } }, { 'payment.succeeded': schema })).rejects.toMatchObject({ code });
  });

  it.each([{ status: 'success' }, { status: 'whatever' }, { status: 1 }, { state: 'failed' }, {}])(
    '%j contradicts nothing',
    async (payload) => {
      await expect(verify({ payload })).resolves.toMatchObject({ type: 'payment.succeeded' });
    },
  );

  it('of another kind is that kind’s business', async () => {
    await expect(verify({ type: 'payment.failed', payload: { status: 'failed' } })).resolves.toMatchObject({
      kind: 'payment.failed',
    });
  });
});

describe('a schema', () => {
  const refund = z.object({ reference: z.string(), refund_id: z.string(), amount: z.string().transform(Number) });
  const events = { 'payment.refunded': refund };

  it('validates and types the payload of its kind', async () => {
    const event = await verify({ type: 'payment.refunded', payload: { refund_id: 'r-1', amount: '5000', other: 1 } }, events);
    expect(event).toMatchObject({ type: 'payment.refunded', reference: 'order-42' });
    expect(event.payload).toEqual({ reference: 'order-42', refund_id: 'r-1', amount: 5000 });
  });

  it('refuses a payload without quoting it', async () => {
    const refused = verify({ type: 'payment.refunded', payload: { refund_id: 4242 } }, events);
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_payload',
      message: 'the signed body was refused by the schema of its kind',
    });
  });

  it('cannot take the place of the reference', async () => {
    const hostile = z.object({}).transform(() => ({ reference: 'another' }));
    await expect(verify({}, { 'payment.succeeded': hostile })).resolves.toMatchObject({
      reference: 'order-42',
      payload: { reference: 'another' },
    });
  });

  const schemaOf = (validate: StandardSchema['~standard']['validate']): StandardSchema => ({
    '~standard': { version: 1, vendor: 'test', validate },
  });

  it('may be asynchronous', async () => {
    const schema = schemaOf((value) => Promise.resolve({ value }));
    await expect(verify({}, { 'payment.succeeded': schema })).resolves.toMatchObject({ reference: 'order-42' });
  });

  it('that hangs is given up after 5 seconds: 503 handler_timeout, and the log names its kind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked!: () => void;
    const begun = new Promise<void>((resolve) => (asked = resolve));
    const schema = schemaOf(() => {
      asked();
      return new Promise(() => undefined);
    });
    const settled = vi.fn();
    const verified = verify({}, { 'payment.succeeded': schema }).finally(settled);
    const refused = expect(verified).rejects.toMatchObject({
      code: 'handler_timeout',
      status: 503,
      message: 'the schema of payment.succeeded did not settle in 5000 ms',
    });
    await begun;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await refused;
  });

  it('that throws is thrown on: a bug of it must not pass for a bad payload', async () => {
    const bug = new RangeError('bug');
    const schema = schemaOf(() => {
      throw bug;
    });
    await expect(verify({}, { 'payment.succeeded': schema })).rejects.toBe(bug);
  });

  it.each([
    ['Payment.Refunded', refund],
    ['', refund],
    ['unrecognized', refund],
    ['a b', refund],
    ['payment.refunded', {}],
    ['payment.refunded', undefined],
  ])('is refused at set-up under the kind %j, or when it is not a schema', (kind, schema) => {
    expect(() => createVerifier({ secret: TEST_SECRET, events: { [kind]: schema as StandardSchema } })).toThrow(
      `events['${kind}']`,
    );
  });
});
