import { createServer, type IncomingMessage } from 'node:http';
import type { UnderlyingSource } from 'node:stream/web';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { begin, closeWires, requestBytes, type HeaderLines } from '../../testing/src/wire.js';
import { paymentWebhook, toResponse, type FetchHost, type FetchRequest } from '../src/index.js';

const secret = TEST_SECRET;
const url = 'http://localhost/webhooks/payments';
const delivery = signedDelivery({ secret });
const forged = signedDelivery({ secret: 'a-secret-of-nobody' });
const nothing = (): undefined => undefined;

let logged: string[];
beforeEach(() => {
  logged = [];
  for (const method of ['warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((text: string) => void logged.push(text));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A request of which the body comes from `source`. */
function streaming(source: UnderlyingSource<Uint8Array>, init: RequestInit = {}): Request {
  const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  return new Request(url, {
    method: 'POST',
    headers: delivery.headers,
    body,
    duplex: 'half',
    ...init,
  });
}

/** As adapters on node:http make it: cancelling the body destroys the request. */
function requestOf(req: IncomingMessage): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      req.on('data', (piece: Buffer) => controller.enqueue(new Uint8Array(piece)));
      req.on('end', () => controller.close());
    },
    cancel: () => void req.destroy(),
  });
  return new Request(url, {
    method: 'POST',
    headers: req.headers as Record<string, string>,
    body,
    duplex: 'half',
  });
}

async function answerOf(
  response: Response | Promise<Response>,
): Promise<[status: number, body: string]> {
  const { status } = await response;
  return [status, await (await response).text()];
}

const RECEIVED = [200, '{"received":true}'];
const CONSUMED = [500, '{"error":"body_consumed"}'];
/** For what is only done after the reply. */
const SOON = { timeout: 3_000 };
const INCOMPLETE = [400, '{"error":"incomplete_body"}'];

describe('paymentWebhook', () => {
  it('credits a genuine delivery and refuses a forged one', async () => {
    const credited: string[] = [];
    const handle = paymentWebhook(
      { secret },
      { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
    );
    expect(await answerOf(handle(delivery.toRequest(url)))).toEqual(RECEIVED);
    const refused = await handle(forged.toRequest(url));
    expect(refused.headers.get('www-authenticate')).toBe('Signature');
    expect(await answerOf(refused)).toEqual([401, '{"error":"invalid_signature"}']);
    expect(credited).toEqual(['order-42']);
  });

  it('gives the handler the verified request, and not a field `request` of the host', async () => {
    const seen: unknown[] = [];
    const handle = paymentWebhook({ secret }, (_event, { request }) => void seen.push(request));
    const verified = delivery.toRequest(url);
    const host = { request: forged.toRequest(url) };
    expect(await answerOf(handle(verified, host))).toEqual(RECEIVED);
    expect(seen).toEqual([verified]);
    expect(seen[0]).toBe(verified);
  });

  it('gives the handler the request, the values of the host and `signal`, and no means to answer', async () => {
    interface Bindings {
      readonly env: { readonly SECRET: string };
    }
    const handler = vi.fn();
    const secretOf = ({ env }: FetchHost<Bindings>) => ({
      secret: env.SECRET,
      tenant: null,
    });
    const handle = paymentWebhook({ secret: secretOf }, handler);
    const request = delivery.toRequest(url);
    expect((await handle(request, { env: { SECRET: secret } })).status).toBe(200);
    const [, context] = handler.mock.calls[0] as [unknown, object];
    expect(Object.keys(context).sort()).toEqual(['env', 'request']);
    expect(context).toHaveProperty('signal');
    expect(context).toMatchObject({ request, env: { SECRET: secret } });
    expect(
      (await handle(delivery.toRequest(url), { env: { SECRET: 'another secret' } })).status,
    ).toBe(401);
    expect((await handle(delivery.toRequest(url))).status).toBe(503);
  });

  it(
    'takes a request of a host without a signal, without streams or without `bodyUsed`',
    { tags: 'N20' },
    async () => {
      const credited: string[] = [];
      const handle = paymentWebhook(
        { secret, bodyLimit: 1_000 },
        ({ reference }) => void credited.push(reference),
      );
      const whole = (sent: SignedDelivery): FetchRequest => {
        const { method, headers } = sent.toRequest(url);
        return {
          method,
          headers,
          arrayBuffer: () => Promise.resolve(new Uint8Array(sent.rawBody).buffer),
        };
      };
      // As Azure Functions has it.
      const azure = (sent: SignedDelivery): FetchRequest => {
        const request = sent.toRequest(url);
        const { method, headers, body, bodyUsed } = request;
        return { method, headers, body, bodyUsed, arrayBuffer: () => request.arrayBuffer() };
      };
      for (const requestOf of [whole, azure]) {
        expect(await answerOf(handle(requestOf(delivery)))).toEqual(RECEIVED);
        expect(await answerOf(handle(requestOf(forged)))).toEqual([
          401,
          '{"error":"invalid_signature"}',
        ]);
        const large = signedDelivery({ secret, payload: { note: 'n'.repeat(1_000) } });
        expect(await answerOf(handle(requestOf(large)))).toEqual([
          413,
          '{"error":"body_too_large"}',
        ]);
        expect(await answerOf(handle({ ...requestOf(delivery), method: 'GET' }))).toEqual([
          405,
          '{"error":"method_not_allowed"}',
        ]);
        expect(await answerOf(handle({ ...requestOf(delivery), bodyUsed: true }))).toEqual(
          CONSUMED,
        );
      }
      // Without a declared length.
      for (const [length, status] of [
        [1_000, 200],
        [1_001, 413],
      ] as const) {
        const rawBody = '{"reference":"order-42"}'.padEnd(length);
        const { headers, ...request } = whole(signedDelivery({ secret, rawBody }));
        const get = (name: string) => (name === 'content-length' ? null : headers.get(name));
        expect((await answerOf(handle({ ...request, headers: { get } })))[0]).toBe(status);
      }
      const failing = {
        ...whole(delivery),
        arrayBuffer: () => Promise.reject(new Error('aborted')),
      };
      expect(await answerOf(handle(failing))).toEqual(INCOMPLETE);
      const hanging = {
        ...whole(delivery),
        arrayBuffer: () => new Promise<never>(() => undefined),
      };
      const hurried = paymentWebhook({ secret, bodyTimeout: 20 }, nothing);
      expect(await answerOf(hurried(hanging))).toEqual([408, '{"error":"body_timeout"}']);
      expect(credited).toEqual(['order-42', 'order-42', 'order-42']);
    },
  );

  it(
    'reads no more than the limit of a body without an end, and calls no method without a limit',
    { tags: 'F17' },
    async () => {
      const unbounded = ['arrayBuffer', 'text', 'json', 'blob', 'formData'] as const;
      const spies = unbounded.map((method) => vi.spyOn(Request.prototype, method));
      let pulled = 0;
      const cancel = vi.fn();
      const request = streaming({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(100));
        },
        cancel,
      });
      const handle = paymentWebhook({ secret, bodyLimit: 1_000 }, nothing);
      expect(await answerOf(handle(request))).toEqual([413, '{"error":"body_too_large"}']);
      expect(pulled).toBeLessThanOrEqual(12);
      await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce(), SOON);
      for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    },
  );

  it(
    'cancels a body that it refused by the headers, without reading it',
    { tags: 'F17' },
    async () => {
      const pull = vi.fn();
      const cancel = vi.fn();
      const handle = paymentWebhook({ secret }, nothing);
      expect((await handle(streaming({ pull, cancel }, { headers: {} }))).status).toBe(401);
      expect(pull).not.toHaveBeenCalled();
      await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce(), SOON);
    },
  );

  it('replies before the end of the body on a host that destroys the connection of a cancelled body, and then ends it', async () => {
    const server = createServer((req, res) => {
      void handle(requestOf(req)).then(async (response) => {
        res.writeHead(response.status).end(await response.text());
      });
    });
    const handle = paymentWebhook({ secret, bodyTimeout: 50 }, nothing);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { readonly port: number };
      const replyTo = async (
        head: HeaderLines,
        length: number,
      ): Promise<[number, string, string]> => {
        const lines: HeaderLines = [
          ['Host', 'localhost'],
          ...head,
          ['Content-Length', String(length)],
        ];
        const wire = await begin(port, requestBytes(lines, delivery.rawBody.subarray(0, 8)));
        const { status, body } = await wire.reply();
        return [status, body, await wire.closed()];
      };
      const genuine = Object.entries(delivery.headers);
      const ended = expect.stringMatching(/FIN|RST/) as string;
      expect(await replyTo([], 60_000)).toEqual([401, '{"error":"invalid_signature"}', ended]);
      expect(await replyTo(genuine, 60_000)).toEqual([408, '{"error":"body_timeout"}', ended]);
      // A body that has come whole costs its sender no connection.
      const lines: HeaderLines = [
        ['Host', 'localhost'],
        ['Content-Length', '5'],
      ];
      const wire = await begin(port, requestBytes(lines, Buffer.from('whole')));
      expect((await wire.reply()).status).toBe(401);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await wire.send(requestBytes(lines, Buffer.from('again')));
      expect((await wire.reply()).status).toBe(401);
    } finally {
      closeWires();
      server.close();
    }
  });

  it('does not begin to read for a sender that has left', async () => {
    const handler = vi.fn();
    const request = new Request(delivery.toRequest(url), { signal: AbortSignal.abort() });
    expect(await answerOf(paymentWebhook({ secret }, handler)(request))).toEqual(INCOMPLETE);
    expect(handler).not.toHaveBeenCalled();
  });

  it('takes a body of the declared length although its sender has left, and no shorter body', async () => {
    const { headers, rawBody } = delivery;
    const handler = vi.fn();
    const handle = paymentWebhook({ secret }, handler);
    const answerTo = (length: number) => {
      const sender = new AbortController();
      const request = new Request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(length) },
        body: new Uint8Array(rawBody),
      });
      // The signal of an aborted Request would also break the body.
      Object.defineProperty(request, 'signal', { value: sender.signal });
      const answer = answerOf(handle(request));
      sender.abort();
      return answer;
    };
    expect(await answerTo(rawBody.length + 1)).toEqual(INCOMPLETE);
    expect(handler).not.toHaveBeenCalled();
    expect(await answerTo(rawBody.length)).toEqual(RECEIVED);
  });

  it('answers 400 to a body that breaks', async () => {
    const request = streaming({
      pull(controller) {
        controller.error(new Error('reset by peer'));
      },
    });
    expect(await answerOf(paymentWebhook({ secret }, nothing)(request))).toEqual(INCOMPLETE);
  });
});

describe('an adapter of another host', () => {
  it('can make deliveries that nothing can cancel', async () => {
    const reply = { status: 401, headers: { 'x-reply': 'ours' }, body: '{}' };
    const own = {
      method: 'POST',
      header: () => undefined,
      body: () => Promise.resolve(new Uint8Array()),
    };
    const response = toResponse(own, reply);
    expect([response.status, response.headers.get('x-reply'), await response.text()]).toEqual([
      401,
      'ours',
      '{}',
    ]);
  });
});

it("closes the connection with a 401 and a 408 on Bun's own server, and on no other host", async () => {
  vi.stubGlobal('Bun', {});
  onTestFinished(() => void vi.unstubAllGlobals());
  const server = { requestIP: () => ({ address: '127.0.0.1' }) };
  const handle = paymentWebhook({ secret, bodyTimeout: 20 }, nothing);
  const connectionOf = async (
    request: Request,
    host?: unknown,
  ): Promise<readonly [number, string | null]> => {
    const { status, headers } = await handle(request, host);
    return [status, headers.get('connection')];
  };
  expect(await connectionOf(forged.toRequest(url), server)).toEqual([401, 'close']);
  expect(await connectionOf(streaming({}), server)).toEqual([408, 'close']);
  expect(await connectionOf(delivery.toRequest(url), server)).toEqual([200, null]);
  expect(await connectionOf(forged.toRequest(url), { env: {} })).toEqual([401, null]);
  vi.unstubAllGlobals();
  expect(await connectionOf(forged.toRequest(url), server)).toEqual([401, null]);
});
