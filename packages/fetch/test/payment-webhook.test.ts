import { createServer, type IncomingMessage } from 'node:http';
import type { UnderlyingSource } from 'node:stream/web';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { begin, closeWires, requestBytes, type HeaderLines } from '../../testing/src/wire.js';
import { paymentWebhook, type FetchHost, type FetchRequest } from '../src/index.js';

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
  const { headers } = delivery;
  return new Request(url, { method: 'POST', headers, body, duplex: 'half', ...init });
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
  const headers = req.headers as Record<string, string>;
  return new Request(url, { method: 'POST', headers, body, duplex: 'half' });
}

async function answerOf(
  response: Response | Promise<Response>,
): Promise<[status: number, body: string]> {
  const { status } = await response;
  return [status, await (await response).text()];
}

const RECEIVED = [200, '{"received":true}'];
const UNSIGNED = [401, '{"error":"invalid_signature"}'];
const TOO_LARGE = [413, '{"error":"body_too_large"}'];
const CONSUMED = [500, '{"error":"body_consumed"}'];
/** For what is only done after the reply. */
const SOON = { timeout: 3_000 };
const INCOMPLETE = [400, '{"error":"incomplete_body"}'];

describe('paymentWebhook', () => {
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
    // Not a field `request` of the host.
    const host = { env: { SECRET: secret }, request: forged.toRequest(url) };
    expect((await handle(request, host)).status).toBe(200);
    const [, context] = handler.mock.calls[0] as [unknown, object];
    expect(Object.keys(context).sort()).toEqual(['env', 'request']);
    expect(context).toHaveProperty('signal');
    expect(context).toMatchObject({ env: { SECRET: secret } });
    expect((context as FetchHost).request).toBe(request);
    expect(
      (await handle(delivery.toRequest(url), { env: { SECRET: 'another secret' } })).status,
    ).toBe(401);
    expect((await handle(delivery.toRequest(url))).status).toBe(503);
  });

  it(
    'takes a frozen request of a host without a signal, without streams or without `bodyUsed`',
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
      const large = signedDelivery({ secret, payload: { note: 'n'.repeat(1_000) } });
      for (const requestOf of [whole, azure]) {
        const genuine = Object.freeze(requestOf(delivery));
        expect(await answerOf(handle(genuine))).toEqual(RECEIVED);
        expect(await answerOf(handle(requestOf(forged)))).toEqual(UNSIGNED);
        expect(await answerOf(handle(requestOf(large)))).toEqual(TOO_LARGE);
        expect((await handle({ ...genuine, method: 'GET' })).status).toBe(405);
        expect(await answerOf(handle({ ...genuine, bodyUsed: true }))).toEqual(CONSUMED);
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
      const failing = () => Promise.reject(new Error('aborted'));
      const failed = handle({ ...whole(delivery), arrayBuffer: failing });
      expect(await answerOf(failed)).toEqual(INCOMPLETE);
      const hanging = () => new Promise<never>(() => undefined);
      const hurried = paymentWebhook({ secret, bodyTimeout: 20 }, nothing);
      const late = hurried({ ...whole(delivery), arrayBuffer: hanging });
      expect(await answerOf(late)).toEqual([408, '{"error":"body_timeout"}']);
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
      expect(await answerOf(handle(request))).toEqual(TOO_LARGE);
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
      const replyTo = async (given: HeaderLines) => {
        const lines = [['Host', 'localhost'], ...given, ['Content-Length', '60000']] as const;
        const wire = await begin(port, requestBytes(lines, delivery.rawBody.subarray(0, 8)));
        const { status, body } = await wire.reply();
        return [status, body, await wire.closed()];
      };
      const ended = expect.stringMatching(/FIN|RST/) as string;
      expect(await replyTo([])).toEqual([...UNSIGNED, ended]);
      expect(await replyTo(Object.entries(delivery.headers))).toEqual([
        408,
        '{"error":"body_timeout"}',
        ended,
      ]);
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

  it('answers 400 to a body that breaks, and logs the reason', async () => {
    const request = streaming({
      pull(controller) {
        controller.error(new Error('reset by peer'));
      },
    });
    expect(await answerOf(paymentWebhook({ secret }, nothing)(request))).toEqual(INCOMPLETE);
    expect(logged.join()).toContain('(Error: reset by peer)');
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
