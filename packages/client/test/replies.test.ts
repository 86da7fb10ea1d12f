import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { meaningOf } from '../src/failure.js';
import { PaylinkError, type ClientOptions, type PaylinkClient } from '../src/index.js';
import {
  answer,
  clientOf,
  created,
  cutOff,
  drop,
  failure,
  hang,
  head,
  link,
  payment,
  stall,
  startClient,
  startRawServer,
  type Behaviour,
  type RawRequest,
  type RawServer,
} from './raw-server.js';

let server: RawServer;
let client: PaylinkClient;
const fixed = { amount: 15_000, reference: 'order-1' };

async function start(behaviour: Behaviour, options: Partial<ClientOptions> = {}): Promise<void> {
  ({ server, client } = await startClient([behaviour], { retries: 0, ...options }));
}

const create = (): Promise<unknown> =>
  failure(client.createPaymentLink(fixed, { idempotencyKey: 'key-1' }));
const get = (): Promise<unknown> => failure(client.getPayment('order-1'));

/** The request of `get`, for a reply without a server. */
const READING: RawRequest = { line: 'GET /order-1 HTTP/1.1', headers: {}, body: '' };

/** Answers a reading with 200 and a creation with 201. */
const success =
  (body: unknown): Behaviour =>
  (socket, request) =>
    answer(request.line.startsWith('GET') ? 200 : 201, body)(socket, request);

const empty: Behaviour = (socket) => socket.end(head(204, { Connection: 'close' }));

/** Sends a body without its length. */
const unannounced =
  (text: string): Behaviour =>
  (socket) =>
    socket.end(`${head(200, { Connection: 'close' })}${text}`);

describe('an answer to a creation that is not 201', () => {
  it.each([
    [200, 'unexpected_status'],
    [204, 'unexpected_status'],
    [299, 'unexpected_status'],
    [400, 'rejected'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'rejected'],
    [429, 'rate_limited'],
    [500, 'service_error'],
  ])('throws a typed error even if the body is a valid link: %d', async (status, code) => {
    await start(status === 204 ? empty : answer(status, link));
    const expected = { name: 'PaylinkError', code, status, idempotencyKey: 'key-1' };
    expect(await create()).toMatchObject(expected);
  });

  it('throws a message that names the endpoint, but neither the reference nor the key', async () => {
    await start(answer(400, {}));
    expect(((await create()) as PaylinkError).message).toMatch(/^POST \/v1\/payment-links got 400/);
    expect(((await get()) as PaylinkError).message).toMatch(
      /^GET \/v1\/payments\/\{reference\} got 400/,
    );
  });

  it.each([
    [199, 'unexpected_status'],
    [399, 'unexpected_status'],
    [400, 'rejected'],
    [499, 'rejected'],
    [500, 'service_error'],
    [599, 'service_error'],
    [600, 'unexpected_status'],
  ])('throws the error code of the status class: %d', (status, code) => {
    expect(meaningOf(status)[0]).toBe(code);
  });

  it.each([
    ['req-7', { 'Request-Id': 'req-7' }],
    ['req-7', { 'X-Request-Id': 'req-7', 'Request-Id': 'other' }],
    [undefined, {}],
    [undefined, { 'X-Request-Id': 'with a blank' }],
    [undefined, { 'X-Request-Id': 'x'.repeat(129) }],
    ['x'.repeat(128), { 'X-Request-Id': 'x'.repeat(128) }],
  ])('sets the requestId %s for the headers %j, and omits empty fields', async (id, headers) => {
    await start(answer(500, {}, headers));
    const error = (await create()) as PaylinkError;
    expect(error.requestId).toBe(id);
    const { requestId, ...fields } = JSON.parse(JSON.stringify(error)) as Record<string, unknown>;
    expect(requestId).toBe(id);
    const rest = { status: 500, idempotencyKey: 'key-1', mayHaveCreated: true };
    expect(fields).toEqual({ code: 'service_error', ...rest });
    expect(Object.keys(error).includes('requestId')).toBe(id !== undefined);
    expect('cause' in error).toBe(false);
  });

  it('keeps a body that is not JSON as text, and omits a body that is too large, cut off or missing', async () => {
    await start(answer(400, '<h1>Bad</h1>'));
    expect(((await create()) as PaylinkError).body).toBe('<h1>Bad</h1>');
    await start(empty);
    expect(((await create()) as PaylinkError).body).toBe('');
    for (const [behaviour, timeout] of [
      [answer(400, 'x'.repeat(1_100_000)), 10_000],
      [cutOff(400), 10_000],
      [stall(400), 300],
    ] as const) {
      await start(behaviour, { timeout });
      const error = (await create()) as PaylinkError;
      expect([error.code, error.status, error.body]).toEqual(['rejected', 400, undefined]);
    }
  });
});

describe('an answer to a reading', () => {
  it.each([201, 206, 404, 410, 500])('succeeds only with 200, and not with %d', async (status) => {
    await start(answer(status, payment));
    expect(await get()).toMatchObject({ status });
  });
});

describe('a redirect', () => {
  it.each([300, 301, 302, 303, 307, 308, 399])('throws and is not followed: %d', async (status) => {
    const elsewhere = await startRawServer(created);
    const headers = { Location: `${elsewhere.baseUrl}/v1/payment-links` };
    await start(answer(status, '', headers), { retries: 3 });
    expect(await create()).toMatchObject({ code: 'redirected', status });
    expect(await get()).toMatchObject({ code: 'redirected', status });
    expect(server.requests).toHaveLength(2);
    expect(elsewhere.requests).toEqual([]);
  });

  it('throws if a custom fetch followed it, or hides its target', { tags: 'L07' }, async () => {
    const redirected = { redirected: { value: true } };
    const opaque = { type: { value: 'opaqueredirect' }, status: { value: 0 } };
    for (const odd of [redirected, opaque]) {
      const response = Object.defineProperties(Response.json(payment(READING)), odd);
      client = clientOf(() => Promise.resolve(response));
      expect(await get()).toMatchObject({ code: 'redirected' });
    }
  });
});

describe('a bad reply', () => {
  it.each([
    ['not JSON', '<html>'],
    ['empty', ''],
    ['cut JSON under a right length', '{"reference":"order-1"'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"order-1"'],
  ])('throws a typed error: %s', { tags: 'L10' }, async (_, body) => {
    await start(success(body));
    expect(await get()).toMatchObject({ code: 'invalid_response', status: 200 });
    const expected = { code: 'invalid_response', status: 201, idempotencyKey: 'key-1' };
    expect(await create()).toMatchObject(expected);
  });

  it('throws a typed error: bytes that are not UTF-8', { tags: 'L10' }, async () => {
    await start((socket, request) => {
      // A payment that is whole but for one byte of a field that is not read.
      const body = Buffer.from(JSON.stringify({ ...payment(request), note: '~' }));
      body[body.indexOf('~')] = 0xff;
      socket.write(head(200, { 'Content-Length': String(body.length) }));
      socket.end(body);
    });
    expect(await get()).toMatchObject({ code: 'invalid_response', status: 200 });
  });

  it(
    'stops at 1 MiB, with a Content-Length, without one, and compressed',
    { tags: 'L10' },
    async () => {
      const large = JSON.stringify({ filler: 'x'.repeat(1_100_000) });
      const packed = gzipSync(large);
      const compressed: Behaviour = (socket) => {
        const length = String(packed.length);
        socket.write(head(200, { 'Content-Encoding': 'gzip', 'Content-Length': length }));
        socket.end(packed);
      };
      for (const behaviour of [answer(200, large), unannounced(large), compressed]) {
        await start(behaviour, { retries: 3 });
        expect(await get()).toMatchObject({ code: 'response_too_large', status: 200 });
        expect(server.requests).toHaveLength(1);
      }
    },
  );

  it('passes with exactly 1 MiB, with a Content-Length and without one', async () => {
    const most = JSON.stringify(payment(READING)).padEnd(1_048_576);
    for (const behaviour of [answer(200, most), unannounced(most)]) {
      await start(behaviour);
      await expect(client.getPayment('order-1')).resolves.toMatchObject({ status: 'success' });
    }
    for (const behaviour of [answer(200, `${most} `), unannounced(`${most} `)]) {
      await start(behaviour);
      expect(await get()).toMatchObject({ code: 'response_too_large' });
    }
  });

  it('releases a reply that announces too much, and a redirect, without reading them', async () => {
    for (const [code, bytes] of [
      ['response_too_large', head(200, { 'Content-Length': '2000000' })],
      ['redirected', head(302, { 'Content-Length': '2000000', Location: '/elsewhere' })],
    ] as const) {
      let close: () => void;
      const closed = new Promise<void>((resolve) => (close = resolve));
      await start((socket) => void socket.once('close', close).write(`${bytes}{`));
      expect(await get()).toMatchObject({ code });
      await closed;
    }
  });

  it('ignores that it cannot release a reply', async () => {
    const cancel = () => Promise.reject(new Error('the connection is gone'));
    for (const [code, init] of [
      ['response_too_large', { headers: { 'Content-Length': '2000000' } }],
      ['redirected', { status: 302 }],
    ] as const) {
      client = clientOf(async () => new Response(new ReadableStream({ cancel }), init));
      expect(await get()).toMatchObject({ code });
    }
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('releases an endless reply as soon as it is too large', { tags: 'L10' }, async () => {
    let written = 0;
    let close: () => void;
    const closed = new Promise<void>((resolve) => (close = resolve));
    await start((socket) => {
      socket.once('close', close).write(head(200, { 'Transfer-Encoding': 'chunked' }));
      const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
    expect(await get()).toMatchObject({ code: 'response_too_large' });
    await closed;
    expect(written).toBeLessThan(50_000_000);
  });

  it('throws a typed error if the connection cuts it off', { tags: 'L10' }, async () => {
    await start(cutOff(200));
    expect(await get()).toMatchObject({ code: 'network_error' });
  });

  it.each([
    ['within a chunk', '60\r\n{"token":"token-1","url":"https://p'],
    ['after its head', ''],
  ])(
    'throws a typed error if fetch takes a reply for whole that ends %s',
    { tags: 'L10' },
    async (_, rest) => {
      const chunked = head(201, { 'Transfer-Encoding': 'chunked', Connection: 'close' });
      await start((socket) => socket.end(`${chunked}${rest}`));
      const error = (await create()) as PaylinkError;
      expect(['invalid_response', 'network_error']).toContain(error.code);
      expect([error.mayHaveCreated, error.idempotencyKey]).toEqual([true, 'key-1']);
    },
  );

  it.each<[string, Behaviour]>([
    ['before its head', hang],
    ['within its head', (socket) => void socket.write('HTTP/1.1 201 OK\r\nContent-')],
    ['within its body', stall(201)],
  ])('times out if it hangs %s', { tags: 'L10' }, async (_, behaviour) => {
    await start(behaviour, { timeout: 300 });
    expect(await create()).toMatchObject({ code: 'timeout', idempotencyKey: 'key-1' });
  });

  it.each<[string, Behaviour]>([
    ['a connection that is reset', drop],
    ['a connection that is closed', (socket) => socket.end()],
    ['bytes that are not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n')],
  ])('throws network_error: %s', async (_, behaviour) => {
    await start(behaviour);
    expect(await create()).toMatchObject({ code: 'network_error', idempotencyKey: 'key-1' });
  });

  it('throws network_error with the reasons of a custom fetch, if they are texts', async () => {
    const chain = (...messages: unknown[]): object | undefined =>
      messages.length === 0
        ? undefined
        : { message: messages[0], cause: chain(...messages.slice(1)) };
    for (const [fault, message, code] of [
      [chain('a', '', 7, 'b', 'the fifth'), 'a: b', undefined],
      [{ code: 'E_1' }, 'E_1', 'E_1'],
      [{ code: 'E_1', message: 'first', cause: { code: 'E_2' } }, 'first', 'E_1'],
      [{ message: 'x', code: `E${'_'.repeat(64)}` }, 'x', undefined],
      [{ message: 'x', code: 'has a blank' }, 'x', undefined],
      [{ message: 'x', code: 'E_1 and more' }, 'x', undefined],
      [{ message: 'x', code: 'the E_1' }, 'x', undefined],
      [{ message: 'x', code: 7 }, 'x', undefined],
      [undefined, 'no reason given', undefined],
      [null, 'no reason given', undefined],
      [{ message: 'x'.repeat(301) }, 'x'.repeat(300), undefined],
    ] as const) {
      client = clientOf(() => Promise.reject(fault), { retries: 0 });
      const { cause, message: whole } = (await get()) as PaylinkError & {
        cause: Error & { code?: string };
      };
      expect([cause.message, cause.code]).toEqual([message, code]);
      expect(Object.hasOwn(cause, 'code')).toBe(code !== undefined);
      expect(whole).toBe(`GET /v1/payments/{reference} got no complete reply: ${message}`);
    }
  });

  it('throws network_error with a reason if the port is closed', async () => {
    await start(hang);
    await server.close();
    const error = (await get()) as PaylinkError;
    expect(error).toMatchObject({ code: 'network_error', cause: { code: 'ECONNREFUSED' } });
    expect(error.status).toBeUndefined();
  });
});

describe('a reply that does not match the request', () => {
  const changed =
    (change: object) =>
    (request: RawRequest): object => ({
      ...(request.line.startsWith('GET') ? payment(request) : link(request)),
      ...change,
    });

  it.each([
    ['another reference', { reference: 'order-2' }],
    ['another amount', { amount: 15_001 }],
    ['no amount', { amount: undefined }],
    ['a URL that is http', { url: 'http://pay.example/link/t' }],
    ['a URL that is a script', { url: 'javascript:alert(1)' }],
    ['a URL of this machine that is no page', { url: 'ftp://127.0.0.1/link/t' }],
    ['a URL that only looks like this machine', { url: 'http://127.0.0.1.evil.example/link/t' }],
  ])('rejects a link: %s', { tags: 'L11' }, async (_, change) => {
    await start(answer(201, changed(change)));
    const expected = { code: 'response_mismatch', status: 201, idempotencyKey: 'key-1' };
    expect(await create()).toMatchObject(expected);
  });

  it.each([
    ['invalid_response', { currency: 7 }],
    ['response_mismatch', { reference: 'order-8' }],
    ['link_already_used', { status: 'success' }],
  ])('sets the requestId of a success that it cannot use: %s', async (code, fields) => {
    await start(answer(201, changed(fields), { 'X-Request-Id': 'req-7' }));
    expect(await create()).toMatchObject({ code, requestId: 'req-7', status: 201 });
  });

  it('accepts an amount if the customer chooses it', async () => {
    await start(answer(201, changed({ amount: 700 })));
    const bounds = { amount_min: 500, amount_max: 5_000 };
    const free = { ...bounds, reference: 'order-1', description: 'A gift' };
    await expect(client.createPaymentLink(free)).resolves.toMatchObject({ amount: 700 });
  });

  it(
    'accepts a page on this machine only from a service on this machine',
    { tags: 'L11' },
    async () => {
      const url = 'http://127.0.0.1:4000/link/t';
      await start(answer(201, changed({ url })));
      await expect(client.createPaymentLink(fixed)).resolves.toMatchObject({ url });
      const { baseUrl } = server;
      client = clientOf((to, init) => fetch(`${baseUrl}${new URL(to).pathname.slice(4)}`, init));
      expect(await create()).toMatchObject({ code: 'response_mismatch' });
    },
  );

  it.each([
    ['another reference', { reference: 'order-2' }],
    ['a record of another kind', { type: 'refund' }],
  ])('rejects a payment: %s', { tags: 'L11' }, async (_, change) => {
    await start(answer(200, changed(change)));
    expect(await get()).toMatchObject({ code: 'response_mismatch', status: 200 });
  });

  it.each([
    { reference: 42 },
    { type: undefined },
    { amount: 1.5 },
    { amount: -1 },
    { currency: 952 },
    { currency: undefined },
    { status: ['success'] },
    { currency: '' },
  ])('rejects a payment with %j', async (change) => {
    await start(answer(200, changed(change)));
    expect(await get()).toMatchObject({ code: 'invalid_response', status: 200 });
  });

  it.each([
    { token: undefined },
    { token: 7 },
    { url: null },
    { currency: '' },
    { status: 0 },
    { amount: '15000' },
  ])('rejects a link with %j', async (change) => {
    await start(answer(201, changed(change)));
    expect(await create()).toMatchObject({ code: 'invalid_response', status: 201 });
  });

  it.each(['Success', 'success ', 'SUCCESS', 'succeeded', 'paid', 'unknown', '__proto__'])(
    'reads the status %j as unknown, and never as a success',
    async (status) => {
      await start(success(changed({ status })));
      const read = { status: 'unknown', sentStatus: status };
      await expect(client.getPayment('order-1')).resolves.toMatchObject(read);
      expect(await create()).toMatchObject({ code: 'link_already_used' });
    },
  );

  it.each(['success', 'failed', 'cancelled'])(
    'rejects a created link whose payment is %s, because it belongs to an earlier order',
    async (status) => {
      await start(answer(201, changed({ status })));
      const error = await create();
      const expected = { code: 'link_already_used', status: 201, idempotencyKey: 'key-1' };
      expect(error).toMatchObject(expected);
      expect(error).not.toHaveProperty('mayHaveCreated');
      expect((error as Error).message).toContain(`its payment is ${status}`);
    },
  );

  it.each(['pending', 'success', 'failed', 'cancelled'])(
    'returns the status %s unchanged, with known fields only',
    async (status) => {
      await start(answer(200, changed({ status, more: 1 })));
      await expect(client.getPayment('order-1')).resolves.toEqual({ ...payment(READING), status });
    },
  );

  it('reads a free amount before the customer has chosen it', async () => {
    for (const amount of [undefined, null]) {
      await start(answer(200, changed({ amount, status: 'pending' })));
      expect(await client.getPayment('order-1')).not.toHaveProperty('amount');
    }
    await start(answer(200, changed({ amount: 0, status: 'pending' })));
    expect(await client.getPayment('order-1')).toHaveProperty('amount', 0);
  });
});
