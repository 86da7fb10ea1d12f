import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { paymentWebhook } from '@paylink/node';
import { testAdapter } from '@paylink/testing/adapter';
import { listening } from './hosts/host.js';

async function listen(
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((req, res) => void listener(req, res));
  const { port } = await listening(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, close };
}

type Listen = Parameters<typeof testAdapter>[1];
type Headers = Record<string, string | number>;
interface Sent {
  readonly headers: Headers;
  body: string;
}

/** Runs tests of the suite on an adapter, and returns the titles of the failed tests. */
async function run(adapter: Listen, tried = /./) {
  const cases: [string, () => Promise<void>][] = [];
  const runner: Parameters<typeof testAdapter>[2] = {
    describe: (_name, body) => {
      body();
    },
    it: (name, body) => tried.test(name) && cases.push([name, body]),
  };
  testAdapter('broken', adapter, runner);
  const failed: string[] = [];
  // Concurrent, because a careless adapter leaves many waiting for a reply.
  await Promise.all(cases.map(([name, body]) => body().catch(() => failed.push(name))));
  return { failed, count: cases.length };
}

const FORGED = 'A01 A delivery without a signature gets 401';
const logger = { warn: () => undefined, error: () => undefined };

describe('testAdapter', () => {
  it('fails for an adapter that does not verify, and closes its servers', async () => {
    let closed = 0;
    const { failed, count } = await run(async ({ handler }) => {
      const server = await listen((req, res) => {
        let text = '';
        req
          .setEncoding('utf8')
          .on('data', (piece: string) => (text += piece))
          .on('end', () => {
            handler({
              type: 'payment.succeeded',
              reference: String(/order-[a-z0-9]+/.exec(text)?.[0]),
            });
            res.setHeader('content-type', 'application/json').end('{"received":true}');
          });
      });
      const close = (): void => {
        closed++;
        server.close();
      };
      return { port: server.port, close };
    });
    expect(count).toBeGreaterThan(30);
    expect(failed).toContain(FORGED);
    expect(failed).toContain('C02 A body that a JSON parser re-serialised gets 401');
    expect(failed.length).toBeGreaterThan(25);
    expect(closed).toBe(count);
  }, 120_000);

  it('fails for an adapter that calls the handler before it verifies', async () => {
    const adapter: Listen = ({ options, handler }) => {
      const webhook = paymentWebhook({ ...options, logger }, handler);
      return listen((req, res) => {
        handler({ type: 'payment.succeeded', reference: 'order-too-early' });
        return webhook(req, res);
      });
    };
    const malformed = 'answers 401 to a malformed signature before the body arrives';
    const cut = 'survives senders that disconnect in the middle of the body';
    const { failed, count } = await run(adapter, /^(A01|D14|answers 401|survives senders) /);
    const expected = [FORGED, malformed, cut];
    expect({ failed: failed.toSorted(), count }).toEqual({ failed: expected, count: 4 });
  });

  it('fails for an adapter that acknowledges and calls no handler', async () => {
    const adapter: Listen = ({ options }) =>
      listen(paymentWebhook({ ...options, logger }, () => undefined));
    const { failed } = await run(adapter, /^(A01|A07) /);
    // No HTTP client can send the second one.
    expect(failed.toSorted()).toEqual([FORGED, expect.stringMatching(/^A07 /)]);
  });

  it.each<[string, string, (reply: Sent) => unknown]>([
    [
      'another content type',
      'acknowledges an unconfigured kind without calling the handler',
      ({ headers }) => (headers['content-type'] = 'text/plain'),
    ],
    [
      'no Retry-After',
      'answers 503 if the handler hangs',
      ({ headers }) => delete headers['retry-after'],
    ],
    [
      'the message of the handler',
      'answers 500 without the message if the handler throws',
      (reply) => (reply.body = '{"error":"the handler threw"}'),
    ],
  ])('fails for an adapter that answers with %s', async (_, title, spoil) => {
    const adapter: Listen = ({ options, handler }) => {
      const webhook = paymentWebhook({ ...options, logger }, handler);
      return listen((req, res) => {
        const { writeHead, end } = res;
        const writeLater = (status: number, { 'content-length': _, ...headers }: Headers) => {
          res.end = ((body: string) => {
            const reply = { headers, body };
            if (!body.includes('true') || title.startsWith('acknowledges')) spoil(reply);
            writeHead.call(res, status, reply.headers as never);
            return end.call(res, reply.body, 'utf8');
          }) as never;
          return res;
        };
        return webhook(req, Object.assign(res, { writeHead: writeLater }));
      });
    };
    expect(await run(adapter, new RegExp(`^${title}$`))).toEqual({ failed: [title], count: 1 });
  });

  it('names the missing argument if there is no test runner', () => {
    expect(() => testAdapter('none', () => ({ port: 0, close: () => undefined }))).toThrow(
      'pass them as its last argument',
    );
  });
});
