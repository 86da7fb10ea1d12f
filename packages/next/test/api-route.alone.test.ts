import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
// `next start` and `next dev` call an API route with this request and response of Next.js.
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js';
import type { NextApiHandler } from 'next';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { signedDelivery, TEST_SECRET, type SignedDelivery } from '@paylink/testing';
import { paymentWebhookApi } from '../src/pages.js';

const secret = TEST_SECRET;
const UNPARSED = { api: { bodyParser: false } };
const PREVIEW = {
  previewModeId: '',
  previewModeEncryptionKey: '',
  previewModeSigningKey: '',
  dev: false,
};

let server: http.Server;
/** Settles as Next's call of the route does. */
let calls: Promise<void>[];

beforeEach(() => {
  calls = [];
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  vi.restoreAllMocks();
});

async function serve(route: NextApiHandler, config: object = UNPARSED): Promise<string> {
  server = http.createServer((req, res) => {
    const query = Object.fromEntries(new URL(req.url!, 'http://localhost').searchParams);
    calls.push(apiResolver(req, res, query, { default: route, config }, PREVIEW, false));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/webhooks/payments`;
}

async function told(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()];
}

const lines = (): unknown[] =>
  [...vi.mocked(console.error).mock.calls, ...vi.mocked(console.warn).mock.calls]
    .flat()
    // The diagnosis of an earlier delivery comes after its reply.
    .filter((line) => !String(line).startsWith('[paylink] the signature of a delivery'));

describe('an API route of the Pages Router', () => {
  it("gives the handler Next's own request and `signal`, and no means to answer", async () => {
    const seen: unknown[] = [];
    const route = paymentWebhookApi({ secret }, (_event, context) => {
      seen.push(Object.keys(context).sort(), context.req.query['tenant']);
    });
    const url = await serve(route);
    expect(await told(await signedDelivery({ secret }).send(`${url}?tenant=acme`))).toEqual([
      200,
      { received: true },
    ]);
    expect(seen).toEqual([['req'], 'acme']);
  });

  it('says which line to add if the body parser of Next ran first', async () => {
    const handler = vi.fn();
    const url = await serve(paymentWebhookApi({ secret }, handler), {});
    const delivery: SignedDelivery = signedDelivery({ secret });
    expect(await told(await delivery.send(url))).toEqual([500, { error: 'body_consumed' }]);
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream'];
    for (const type of types) {
      const headers = { ...delivery.headers, 'content-type': type };
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: delivery.rawBody.toString(),
      });
      expect(await told(response)).toEqual([500, { error: 'body_consumed' }]);
    }
    expect(lines()[0]).toContain(
      'Add to the same file: export const config = { api: { bodyParser: false } };',
    );
    expect(handler).not.toHaveBeenCalled();
  });

  it('returns when the response has ended, also for a sender that still uploads', async () => {
    const url = await serve(paymentWebhookApi({ secret }, () => undefined));
    const headers = { ...signedDelivery({ secret }).headers, 'content-length': 70_000 };
    const request = http.request(url, { method: 'POST', headers });
    request.on('error', () => undefined).flushHeaders();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(response.statusCode).toBe(413);
    response.resume();
    await Promise.all(calls);
    expect(lines().filter((line) => String(line).includes('without sending a response'))).toEqual(
      [],
    );
  });

  it('returns if the sender has gone away', async () => {
    const url = await serve(paymentWebhookApi({ secret }, () => undefined));
    const headers = { ...signedDelivery({ secret }).headers, 'content-length': 1_000 };
    const request = http.request(url, { method: 'POST', headers });
    request.on('error', () => undefined).write('{');
    await once(server, 'request');
    request.destroy();
    const ended = Promise.all(calls).then(() => 'returned');
    expect(await Promise.race([ended, wait(4_000, 'still waiting', { ref: false })])).toBe(
      'returned',
    );
  });
});

describe('a mistake of set-up', () => {
  it('answers every request with 500 without a secret, and logs that once', async () => {
    const handler = vi.fn();
    const url = await serve(paymentWebhookApi({ secret: undefined }, handler));
    for (let time = 0; time < 3; time++) {
      expect(await told(await signedDelivery({ secret }).send(url))).toEqual([
        500,
        { error: 'misconfigured' },
      ]);
    }
    expect(lines()).toEqual([
      '[paylink] 500 misconfigured: this route cannot verify (secret is missing. ' +
        'Did you set WEBHOOK_SECRET?)',
    ]);
    expect(handler).not.toHaveBeenCalled();
  });
});
