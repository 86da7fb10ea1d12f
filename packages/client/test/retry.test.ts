import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ClientOptions, PaylinkClient, PaylinkError } from '../src/index.js';
import { parseRetryAfter } from '../src/failure.js';
import {
  answer,
  clientOf,
  created,
  cutOff,
  drop,
  failure,
  hang,
  head,
  read,
  stall,
  startClient,
  type Behaviour,
  type RawServer,
} from './raw-server.js';

let server: RawServer;
let client: PaylinkClient;
const fixed = { amount: 15_000, reference: 'order-1', description: 'Deux cafés' };

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function start(
  behaviours: [Behaviour, ...Behaviour[]],
  options: Partial<ClientOptions> = {},
): Promise<void> {
  ({ server, client } = await startClient(behaviours, options));
}

/** Stands the clock still until the test moves it. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
}

const create = (options?: Parameters<PaylinkClient['createPaymentLink']>[1]): Promise<unknown> =>
  failure(client.createPaymentLink(fixed, options));
const get = (): Promise<unknown> => failure(client.getPayment('order-1'));

describe('a retry', () => {
  it.each<[string, Behaviour]>([
    ['a connection that drops once the request was sent', drop],
    ['a connection that is closed without an answer', (socket) => socket.end()],
    ['an answer that is cut off', cutOff(201)],
    ['an answer that never comes', hang],
    ['429', answer(429, {})],
    ['500', answer(500, {})],
    ['503 that is cut off', cutOff(503)],
  ])(
    'sends the same Idempotency-Key and the same bytes after %s',
    { tags: 'L01' },
    async (_, fault) => {
      vi.spyOn(Math, 'random').mockReturnValue(0);
      await start([fault, fault, created], { timeout: fault === hang ? 500 : 10_000 });
      const made = await client.createPaymentLink(fixed);
      expect(made).toMatchObject({ reference: 'order-1' });
      const [first, ...others] = server.requests;
      expect(first!.headers['idempotency-key']).toHaveLength(36);
      expect(others).toEqual([first, first]);
    },
  );

  it('follows a failed reading too', async () => {
    await start([drop, answer(502, 'bad gateway'), read]);
    await expect(client.getPayment('order-1')).resolves.toMatchObject({ status: 'success' });
  });

  it.each([200, 400, 401, 403, 404, 409, 422, 301])(
    'does not follow %d, which a retry would only repeat',
    async (status) => {
      await start([answer(status, {}), created]);
      expect(await create()).toMatchObject({ status });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each<[string, Behaviour]>([
    ['with its length', answer(201, '{"token":')],
    ['that is a page', (socket) => socket.end(`${head(201, { Connection: 'close' })}<html>`)],
  ])('does not follow a reply %s that is not JSON', async (_, behaviour) => {
    await start([behaviour, created]);
    expect(await create()).toMatchObject({ code: 'invalid_response' });
    expect(server.requests).toHaveLength(1);
  });

  it('happens three times at most, or as often as configured', { tags: 'L15' }, async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    await start([answer(503, { attempt: 'last' })]);
    const error = (await get()) as PaylinkError;
    expect([error.code, error.body]).toEqual(['service_error', { attempt: 'last' }]);
    expect(server.requests).toHaveLength(4);
    await start([answer(503, {})], { retries: 1 });
    await get();
    expect(server.requests).toHaveLength(2);
  });
});

describe('a creation whose first try got no answer', () => {
  it('retries if the service reports that the creation is still running', async () => {
    await start([drop, answer(409, {}), created]);
    await expect(client.createPaymentLink(fixed)).resolves.toMatchObject({ reference: 'order-1' });
    expect(server.requests).toHaveLength(3);
  });

  it.each<[string, Behaviour]>([
    ['refused for an hour', answer(429, {}, { 'Retry-After': '3600' })],
    ['refused because of what the first has made', answer(422, {})],
  ])(
    'reports that the link may exist if its last try was %s',
    { tags: 'L01' },
    async (_, refusal) => {
      await start([drop, refusal]);
      const error = await create();
      const idempotencyKey = server.requests[0]!.headers['idempotency-key'];
      expect(error).toMatchObject({ mayHaveCreated: true, idempotencyKey });
      expect(server.requests).toHaveLength(2);
    },
  );

  it('reports that the link may exist if the caller aborts before the next try', async () => {
    const caller = new AbortController();
    await start([answer(503, {}, { 'Retry-After': '5' })]);
    const failing = create({ signal: caller.signal });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), 10_000);
    caller.abort();
    expect(await failing).toMatchObject({ code: 'aborted', mayHaveCreated: true });
  });
});

describe('an error of a creation', () => {
  it.each<[string, Behaviour, true | undefined]>([
    ['no answer', drop, true],
    ['a fault of the service', answer(502, 'bad gateway'), true],
    ['a success that cannot be used', answer(201, {}), true],
    ['a success of another kind', answer(200, {}), true],
    ['a redirect', answer(302, {}, { Location: 'https://elsewhere.example' }), true],
    ['a refusal', answer(422, {}), undefined],
    ['a conflict', answer(409, {}), undefined],
    ['a refusal by the rate limit', answer(429, {}), undefined],
  ])(
    'reports after %s whether the link may exist',
    { tags: 'L01' },
    async (_, behaviour, mayHaveCreated) => {
      await start([behaviour], { retries: 0 });
      expect(((await create()) as PaylinkError).mayHaveCreated).toBe(mayHaveCreated);
    },
  );

  it('does not report a possible link if the service refused and the caller aborts before the next try', async () => {
    vi.spyOn(Math, 'random');
    const caller = new AbortController();
    await start([answer(429, {}, { 'Retry-After': '5' })]);
    const failing = create({ signal: caller.signal });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), 10_000);
    // The answer to it has been read by then.
    await vi.waitFor(() => expect(vi.mocked(Math.random)).toHaveBeenCalled(), 10_000);
    caller.abort();
    const error = (await failing) as PaylinkError;
    expect([error.code, error.mayHaveCreated]).toEqual(['aborted', undefined]);
  });

  it('never reports a possible link for a reading', async () => {
    await start([drop], { retries: 0 });
    expect(await get()).not.toHaveProperty('mayHaveCreated');
  });
});

describe('the wait before a retry', () => {
  /** Lets each try of a creation fail, and returns the times of the tries on a mocked clock. */
  async function triesOf(
    status: number,
    { random, retryAfter, totalTimeout }: Record<string, number>,
  ): Promise<number[]> {
    stopClock();
    vi.spyOn(Math, 'random').mockReturnValue(random!);
    const started = performance.now();
    const tries: number[] = [];
    const fetch = async (): Promise<Response> => {
      tries.push(Math.round(performance.now() - started));
      return new Response('{}', { status, headers: { 'Retry-After': String(retryAfter ?? '') } });
    };
    client = clientOf(fetch, { totalTimeout });
    const result = create();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await result).toMatchObject({ status });
    vi.useRealTimers();
    return tries;
  }

  it('uses full jitter, from 0 to a bound that doubles', { tags: 'L15' }, async () => {
    expect(await triesOf(503, { random: 0 })).toEqual([0, 0, 0, 0]);
    expect(await triesOf(503, { random: 0.5 })).toEqual([0, 125, 375, 875]);
    expect(await triesOf(503, { random: 1 })).toEqual([0, 250, 750, 1750]);
  });

  it('lasts at least as long as the service asks for', { tags: 'L15' }, async () => {
    expect(await triesOf(429, { random: 0, retryAfter: 3 })).toEqual([0, 3_000, 6_000, 9_000]);
    expect(await triesOf(503, { random: 1, retryAfter: 3 })).toEqual([0, 3_250, 6_750, 10_750]);
  });

  it('does not start if it would pass the total timeout', { tags: 'L15' }, async () => {
    const limit = { random: 0, retryAfter: 3 };
    expect(await triesOf(429, { ...limit, totalTimeout: 6_500 })).toEqual([0, 3_000, 6_000]);
    expect(await triesOf(429, { ...limit, totalTimeout: 6_000 })).toEqual([0, 3_000]);
  });

  it(
    'does not start for a Retry-After of an hour: the caller gets the error at once, with the delay',
    { tags: 'L15' },
    async () => {
      await start([answer(429, {}, { 'Retry-After': '3600' }), created]);
      expect(await create()).toMatchObject({ code: 'rate_limited', retryAfter: 3_600_000 });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('parses Retry-After as seconds or as a date, and nothing else', () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    const parse = (text: string) => parseRetryAfter(new Headers({ 'retry-after': text }));
    expect(parseRetryAfter(new Headers())).toBeUndefined();
    expect(parse('0')).toBe(0);
    expect(parse('120')).toBe(120_000);
    expect(parse('Thu, 01 Jan 2026 00:00:30 GMT')).toBe(30_000);
    expect(parse('Wed, 31 Dec 2025 23:59:00 GMT')).toBe(0);
    const date = 'Thu, 01 Jan 2026 00:00:30 GMT';
    const numbers = ['', '-1', '1.5', '1e3', '99999999999', '1, 2'];
    const dates = [
      'soon',
      '2026-01-02',
      date.replace('01', '99'),
      `(about) ${date}`,
      `${date} (x)`,
    ];
    for (const odd of [...numbers, ...dates]) expect(parse(odd), odd).toBeUndefined();
  });

  it.each([
    ['five minutes behind', -300_000],
    ['an hour ahead', 3_600_000],
  ])(
    'counts a date from the reply’s own Date, if this clock is %s',
    { tags: 'Q10' },
    async (_, skew) => {
      const there = Date.now() - skew;
      const headers = {
        Date: new Date(there).toUTCString(),
        'Retry-After': new Date(there + 2_000).toUTCString(),
      };
      await start([answer(429, {}, headers)]);
      expect(await get()).toMatchObject({ retryAfter: 2_000 });
      await start([answer(503, {}, { ...headers, Date: 'soon' })], { retries: 0 });
      const error = (await get()) as PaylinkError;
      expect(Math.abs(error.retryAfter! - Math.max(0, 2_000 - skew))).toBeLessThan(30_000);
    },
  );
});

describe('the total timeout', () => {
  it('leaves the last try only the remaining time', { tags: 'L15' }, async () => {
    stopClock();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const fetch = vi.fn(() => new Promise<never>(() => undefined));
    client = clientOf(fetch, { timeout: 400, totalTimeout: 600, retries: 1 });
    const failed = get();
    await vi.advanceTimersByTimeAsync(600);
    const message = expect.stringContaining('did not answer in 200 ms') as string;
    expect(await failed).toMatchObject({ code: 'timeout', message });
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('defaults to 20 seconds for tries of 10, or to the time for one try if that is longer', async () => {
    stopClock();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    for (const [timeout, over, tries] of [
      [undefined, 20_000, 2],
      [30_000, 30_000, 1],
    ] as const) {
      const started = performance.now();
      const fetch = vi.fn(() => new Promise<never>(() => undefined));
      client = clientOf(fetch, { timeout });
      const ended = get().then(() => performance.now() - started);
      await vi.advanceTimersByTimeAsync(over);
      expect(await ended).toBe(over);
      expect(fetch).toHaveBeenCalledTimes(tries);
    }
  });
});

describe('an abortion by the caller', () => {
  it('throws a typed error before anything is sent', async () => {
    await start([created]);
    const reason = new Error('enough');
    const options = { signal: AbortSignal.abort(reason) };
    const expected = { code: 'aborted', cause: reason };
    expect(await create(options)).toMatchObject(expected);
    expect(await failure(client.getPayment('order-1', options))).toMatchObject(expected);
    expect(server.requests).toEqual([]);
  });

  it.each<[string, Behaviour]>([
    ['before the reply', hang],
    ['within the reply', stall(201)],
    ['within the reply of an error', stall(400)],
    ['while it waits for a retry', answer(503, {}, { 'Retry-After': '15' })],
  ])(
    'ends the call at once %s, and tells the key of a link that may exist',
    { tags: 'L10' },
    async (_, behaviour) => {
      const controller = new AbortController();
      let closed: Promise<void> | undefined;
      await start([
        (socket, request) => {
          closed = new Promise((resolve) => socket.once('close', () => resolve()));
          behaviour(socket, request);
          setTimeout(() => controller.abort(), 100);
        },
      ]);
      const error = await create({ idempotencyKey: 'key-1', signal: controller.signal });
      expect(error).toMatchObject({
        code: 'aborted',
        idempotencyKey: 'key-1',
        mayHaveCreated: true,
      });
      expect(server.requests).toHaveLength(1);
      await closed;
    },
  );

  it('leaves no timer behind that would keep the process alive', async () => {
    stopClock();
    const controller = new AbortController();
    const headers = { 'Retry-After': '15' };
    client = clientOf(async () => new Response('{}', { status: 503, headers }));
    const ended = failure(client.getPayment('order-1', { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    expect(await ended).toMatchObject({ code: 'aborted' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no listener on a signal that serves many calls', async () => {
    await start([answer(503, {}), read]);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await client.getPayment('order-1', { signal });
    expect(added.mock.calls.length).toBeGreaterThan(2);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });

  it('ends a call whose fetch ignores its signal', async () => {
    client = clientOf(() => new Promise(() => undefined), { timeout: 100, retries: 0 });
    expect(await get()).toMatchObject({ code: 'timeout' });
    expect(await create({ signal: AbortSignal.timeout(20) })).toMatchObject({ code: 'aborted' });
  });

  it('ends a call whose reply ignores its signal', async () => {
    const options = { timeout: 100, retries: 0 };
    client = clientOf(async () => new Response(new ReadableStream()), options);
    expect(await get()).toMatchObject({ code: 'timeout' });
  });
});
