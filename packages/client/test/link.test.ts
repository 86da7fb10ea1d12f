import { beforeEach, describe, expect, it } from 'vitest';
import { createClient, type PaylinkClient, type PaymentLinkRequest } from '../src/index.js';
import {
  answer,
  API_KEY,
  clientOf,
  created,
  failure,
  link,
  startClient,
  type Behaviour,
  type RawRequest,
  type RawServer,
} from './raw-server.js';

let server: RawServer;
let client: PaylinkClient;
const fixed = { amount: 15_000, reference: 'order-1' };
const bounds = { amount: undefined, amount_min: 500, amount_max: 5_000, description: 'A gift' };
const free = { amount_min: 500, amount_max: 5_000, reference: 'gift-1', description: 'A gift' };

beforeEach(async () => {
  ({ server, client } = await startClient([created]));
});

const create = (link: unknown, options?: object): Promise<unknown> =>
  client.createPaymentLink(link as PaymentLinkRequest, options);

/** Expects an `invalid_link` whose message names the field, before anything is sent. */
async function expectRefusal(change: object, field: string, problem = ''): Promise<void> {
  const message = expect.stringMatching(`^${field} ${problem}`) as string;
  const error = await failure(create({ ...fixed, ...change }));
  expect(error).toMatchObject({ name: 'PaylinkError', code: 'invalid_link', message });
  expect(server.requests).toEqual([]);
}

describe('createPaymentLink with an invalid link', () => {
  it.each([
    ['an amount with a fraction', { amount: 1.5 }, 'amount'],
    ['an amount that is NaN', { amount: Number.NaN }, 'amount'],
    ['an amount of 1e21', { amount: 1e21 }, 'amount'],
    ['an amount as a text', { amount: '100' }, 'amount'],
    ['an amount of -1', { amount: -1 }, 'amount'],
    ['an amount of 0', { amount: 0 }, 'amount'],
    ['an amount of 2^53', { amount: 2 ** 53 }, 'amount'],
    ['no amount', { amount: undefined }, 'amount'],
    ['an amount beside both bounds', { amount_min: 1, amount_max: 2 }, 'amount'],
    ['an upper bound alone', { ...bounds, amount_min: undefined }, 'amount_min'],
    ['a lower bound alone', { ...bounds, amount_max: undefined }, 'amount_max'],
    ['bounds the wrong way round', { ...bounds, amount_min: 5_001 }, 'amount_min'],
    ['a free amount with a blank description', { ...bounds, description: ' ' }, 'description'],
  ])('rejects before sending: %s', { tags: 'L09' }, (_, change, field) =>
    expectRefusal(change, field),
  );

  it.each([
    ['a reference with half of an emoji', { reference: 'order-\ud83d' }, 'reference'],
    ['a reference with the halves swapped', { reference: '\ude00\ud83d' }, 'reference'],
    ['a description with a lone surrogate', { description: '\udc00' }, 'description'],
    [
      'a return_url with a lone surrogate',
      { return_url: 'https://a.example/\ud800' },
      'return_url',
    ],
  ])('rejects with a typed error: %s', { tags: 'L05' }, (_, change, field) =>
    expectRefusal(change, field, '.*surrogate'),
  );

  it.each([
    ['no reference', { reference: undefined }, 'reference'],
    ['a blank reference', { reference: ' \t' }, 'reference'],
    ['a reference that no path can hold', { reference: '..' }, 'reference'],
    ['a reference with NUL, which no notification could bring', { reference: 'a\0b' }, 'reference'],
    ['a return_url that is a script', { return_url: 'javascript:go("https://a.b")' }, 'return_url'],
    ['a description that is no text', { description: 42 }, 'description'],
    ['a cancel_url that is not a URL', { cancel_url: 'https://' }, 'cancel_url'],
    ['a single_use that is no boolean', { single_use: 'yes' }, 'single_use'],
    ['a misspelt single_use', { singleUse: true }, 'singleUse'],
  ])('rejects: %s', (_, change, field) => expectRefusal(change, field));

  it.each([null, undefined, 'order-1', [], 42])('rejects %j instead of a link', async (link) => {
    const message = expect.stringMatching(/^the link /) as string;
    expect(await failure(create(link))).toMatchObject({ code: 'invalid_link', message });
  });
});

describe('a creation request', () => {
  it('has exactly the fields of the contract', async () => {
    const whole = {
      ...fixed,
      description: 'Un panier: 2 × café',
      return_url: 'https://shop.example/thanks?o=1',
      cancel_url: 'http://localhost:3000/cancelled',
      single_use: true,
    };
    await create(whole);
    await create({ ...free, single_use: undefined });
    const [first, second] = server.requests;
    expect(first!.line).toBe('POST /api/v1/payment-links HTTP/1.1');
    expect(JSON.parse(first!.body)).toEqual(whole);
    expect(JSON.parse(second!.body)).toEqual(free);
    expect(first!.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${API_KEY}`,
    });
    expect(first!.headers).not.toHaveProperty('x-api-key');
  });

  it('disables cache and redirects, and a reading sends neither body nor creation headers', async () => {
    const sent: RequestInit[] = [];
    const fetch = (_url: string, init: RequestInit): Promise<Response> => {
      sent.push(init);
      return Promise.reject(new Error('the network is down'));
    };
    client = clientOf(fetch, { retries: 0 });
    await failure(create(fixed, { idempotencyKey: 'key-1' }));
    await failure(client.getPayment('order-1'));
    const signal = expect.any(AbortSignal) as AbortSignal;
    const common = { redirect: 'manual', cache: 'no-store', signal };
    const headers = { Accept: 'application/json', Authorization: `Bearer ${API_KEY}` };
    expect(sent).toStrictEqual([
      {
        ...common,
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': 'key-1' },
        body: JSON.stringify(fixed),
      },
      { ...common, method: 'GET', headers },
    ]);
  });

  it('sends the key as X-Api-Key instead of Authorization if configured', async () => {
    client = createClient({
      baseUrl: `${server.baseUrl}//`,
      apiKey: API_KEY,
      authentication: 'x-api-key',
    });
    await create(fixed);
    expect(server.requests[0]!.headers).toMatchObject({ 'x-api-key': API_KEY });
    expect(server.requests[0]!.headers).not.toHaveProperty('authorization');
  });

  it('has the same bytes for any order of the fields of a link', async () => {
    const whole = Object.entries({ ...fixed, description: 'A bag', single_use: true });
    for (const fields of [whole, whole.toReversed()]) await create(Object.fromEntries(fields));
    const [first, second] = server.requests;
    expect(second!.body).toBe(first!.body);
  });

  it('does not change if the caller changes the link after the call', async () => {
    const link = { ...fixed };
    const under = create(link);
    link.amount = 1;
    await under;
    expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ amount: 15_000 });
  });

  it('allows equal bounds, and an unknown field that is undefined', async () => {
    await create({ ...free, amount_max: 500, campaign: undefined });
    expect(JSON.parse(server.requests[0]!.body)).toEqual({ ...free, amount_max: 500 });
  });

  it.each([1, Number.MAX_SAFE_INTEGER])('allows the amount %d', async (amount) => {
    await create({ ...fixed, amount });
    expect(server.requests[0]!.body).toContain(`"amount":${amount}`);
  });
});

describe('the Idempotency-Key', () => {
  it('always goes out: the given key, or a new UUID for each call', async () => {
    await create(fixed, { idempotencyKey: 'order-1/attempt 1' });
    await create(fixed);
    await create(fixed);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toBe('order-1/attempt 1');
    for (const key of keys.slice(1))
      expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(keys).size).toBe(3);
  });

  it.each([
    ['empty', ''],
    ['over 255 characters', 'k'.repeat(256)],
    ['with an accent', 'commande-é'],
    ['with a line break', 'a\r\nX-Other: 1'],
    ['with a blank at its end, which HTTP drops', 'a '],
    ['a number', 42],
    ['null', null],
  ])('throws invalid_idempotency_key: %s', async (_, idempotencyKey) => {
    const error = await failure(create(fixed, { idempotencyKey }));
    expect(error).toMatchObject({ code: 'invalid_idempotency_key' });
    expect(server.requests).toEqual([]);
  });

  it('allows 255 characters of printable ASCII', { tags: 'L14' }, async () => {
    await create(fixed, { idempotencyKey: '~'.repeat(255) });
    expect(server.requests[0]!.headers['idempotency-key']).toBe('~'.repeat(255));
  });

  it.each<[string, Behaviour, string]>([
    [
      'the old link',
      answer(201, (request: RawRequest) => ({ ...link(request), amount: 15_000 })),
      'response_mismatch',
    ],
    ['a conflict', answer(409, {}), 'conflict'],
    ['a refusal', answer(422, {}), 'rejected'],
  ])(
    'rejects %s that a service returns for a used key',
    { tags: 'L13' },
    async (_, reply, code) => {
      ({ client, server } = await startClient([created, reply], { retries: 0 }));
      await create(fixed, { idempotencyKey: 'order-1' });
      const changed = { ...fixed, amount: 20_000 };
      const error = await failure(create(changed, { idempotencyKey: 'order-1' }));
      expect(error).toMatchObject({ code, idempotencyKey: 'order-1' });
      const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual(['order-1', 'order-1']);
    },
  );
});
