import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withoutKey } from '../src/failure.js';
import { isPaylinkError, PaylinkError, type ClientOptions } from '../src/index.js';
import {
  answer,
  API_KEY,
  clientOf,
  drop,
  failure,
  hang,
  startClient,
  type Behaviour,
} from './raw-server.js';

const SECRET = API_KEY.split('.')[1]!;
const BODY = 'what-the-service-said';

/** As some libraries write what could be written plainly. */
const escaped = (text: string): string =>
  text.replace(/[./_]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Every way in which an error or a client comes into a log. */
function shown(value: unknown): string {
  const { message, stack, cause } = Object(value) as Partial<Error>;
  return [
    inspect(value, { showHidden: true, depth: 10 }),
    inspect(value, { showHidden: true, depth: 10, getters: true }),
    JSON.stringify(value),
    JSON.stringify(value, Object.getOwnPropertyNames(value)),
    String(value),
    message,
    stack,
    inspect(cause, { showHidden: true, depth: 10 }),
    JSON.stringify({ ...(value as object) }),
  ].join('\n');
}

async function start(behaviour: Behaviour, options: Partial<ClientOptions> = {}) {
  // Only a reply that never comes is waited for.
  const timeout = behaviour === hang ? 300 : 10_000;
  return (await startClient([behaviour], { retries: 0, timeout, ...options })).client;
}

describe('the API key', () => {
  it.each(['bearer', 'x-api-key'] as const)(
    'never shows in a client (%s)',
    async (authentication) => {
      const client = await start(hang, { authentication });
      expect(shown(client)).not.toContain(SECRET);
      expect(shown(client.getPayment)).not.toContain(SECRET);
    },
  );

  it.each<[string, Behaviour]>([
    [
      'a refused key that the service quotes',
      answer(401, `{"error":"no such key: ${API_KEY}"}`, { 'X-Request-Id': API_KEY }),
    ],
    [
      'a refused key with JSON escapes',
      answer(401, `{"${escaped(API_KEY)}":"${escaped(API_KEY)}"}`),
    ],
    ['an answer about another payment', answer(200, `{"reference":"other","key":"${API_KEY}"}`)],
    ['a request id of its secret part', answer(401, '{}', { 'X-Request-Id': SECRET })],
    ['a failure', answer(500, BODY)],
    ['a redirect', answer(302, '', { Location: `https://elsewhere.example/?key=${API_KEY}` })],
    ['a bad reply', answer(200, `key ${API_KEY}`)],
    ['a reset connection', drop],
    ['a timeout', hang],
  ])('never shows in the error of %s', async (_, behaviour) => {
    const client = await start(behaviour);
    for (const error of [
      await failure(client.getPayment('r')),
      await failure(client.createPaymentLink({ amount: 1, reference: 'r' })),
    ]) {
      expect(isPaylinkError(error)).toBe(true);
      expect(shown(error)).not.toContain(SECRET);
      expect(JSON.stringify((error as PaylinkError).body) ?? '').not.toContain(SECRET);
    }
  });

  it.each([
    ['the whole key', API_KEY],
    ['its secret half alone', SECRET],
    ['both in one text', `${SECRET} of ${API_KEY}`],
  ])('never shows in a field of a payment or a link whose reply quotes %s', async (_, quoted) => {
    const fields = { reference: 'r', type: 'payment', amount: 1, currency: quoted };
    const client = await start((socket, request) => {
      const url = `https://pay.example/link/${encodeURIComponent(quoted)}`;
      const isCreation = request.line.startsWith('POST');
      const status = isCreation ? 'pending' : quoted;
      const reply = { ...fields, token: quoted, url, status, [quoted]: quoted };
      answer(isCreation ? 201 : 200, reply)(socket, request);
    });
    const payment = await client.getPayment('r');
    const currency = expect.stringContaining('[API key]') as string;
    expect(payment).toMatchObject({ currency, status: 'unknown' });
    expect(shown(payment)).not.toContain(SECRET);
    const link = await client.createPaymentLink({ amount: 1, reference: 'r' });
    expect(shown(link)).not.toContain(SECRET);
  });

  it.each([
    ['is taken out from 8 characters on', 'sk_live_id.12345678', 'says 12345678', 'says [API key]'],
    [
      'stays where it is so short that it is part of other words',
      'sk_live_id.1234567',
      'says 1234567',
      'says 1234567',
    ],
    [
      'starts after the first dot, because the id has none',
      'sk_live_id.12345678.part',
      'says 12345678.part',
      'says [API key]',
    ],
  ])('never shows by its secret half either: %s', (_, apiKey, text, expected) => {
    const copy = withoutKey([{ [text]: text }, 7, null], apiKey);
    expect(copy).toEqual([{ [expected]: expected }, 7, null]);
  });

  it('never shows in the error of a fetch that attaches its request to the error', async () => {
    const client = clientOf(
      (_url, init) => {
        const failed = new Error(`cannot send ${JSON.stringify(init.headers)}`, { cause: init });
        return Promise.reject(Object.assign(failed, { config: init, code: 'E_X' }));
      },
      { retries: 0 },
    );
    const error = await failure(client.getPayment('r'));
    expect(shown(error)).not.toContain(SECRET);
    const message = expect.stringContaining('cannot send') as string;
    expect(error).toMatchObject({ code: 'network_error', cause: { code: 'E_X', message } });
  });

  it('never shows in part at the end of a message, which is cut', async () => {
    const words = 'x'.repeat(300 - API_KEY.indexOf('.') - 10);
    const fetch = () => Promise.reject(new Error(`${words}${API_KEY}${words.repeat(1_000)}`));
    const error = (await failure(clientOf(fetch, { retries: 0 }).getPayment('r'))) as Error;
    expect(error.message).not.toContain(SECRET.slice(0, 4));
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('the body of the service’s answer', () => {
  it('stays in the error’s `body`, and out of every view of the error', async () => {
    const client = await start(answer(400, { reason: BODY }));
    const error = await failure(client.getPayment('r'));
    expect((error as PaylinkError).body).toEqual({ reason: BODY });
    // With getters called, a debugger or a test runner shows it where a person asks for that.
    const views = [
      inspect(error, { showHidden: true, depth: 10 }),
      JSON.stringify(error),
      String(error),
      (error as Error).stack,
    ];
    expect(views.join('\n')).not.toContain(BODY);
  });

  it('never shows if a part of it is invalid', async () => {
    const client = await start(
      answer(200, { reference: BODY, type: BODY, currency: BODY, amount: BODY, status: BODY }),
    );
    const error = await failure(client.getPayment('r'));
    expect(inspect(error, { showHidden: true, depth: 10 })).not.toContain(BODY);
    expect((error as PaylinkError).body).toMatchObject({ status: BODY });
  });
});

describe('isPaylinkError', () => {
  it('recognises errors of another copy of this package, and nothing else', async () => {
    const copy = '../src/errors.js?copy';
    const other = (await import(copy)) as { PaylinkError: typeof PaylinkError };
    const foreign = new other.PaylinkError('timeout', 'x');
    expect(foreign).not.toBeInstanceOf(PaylinkError);
    expect(isPaylinkError(foreign)).toBe(true);
    for (const value of [undefined, null, 0, 'x', {}, new Error('x'), { code: 'timeout' }])
      expect(isPaylinkError(value)).toBe(false);
  });
});
