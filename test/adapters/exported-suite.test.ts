import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { testAdapter } from '@paylink/testing/adapter';

async function listen(
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((req, res) => void listener(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

describe('testAdapter', () => {
  it('fails for an adapter that does not verify', async () => {
    const cases: [string, () => Promise<void>][] = [];
    const runner: Parameters<typeof testAdapter>[2] = {
      describe: (_name, body) => {
        body();
      },
      it: (name, body) => cases.push([name, body]),
    };
    testAdapter(
      'careless',
      ({ handler }) =>
        listen((req, res) => {
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
        }),
      runner,
    );
    const failed: string[] = [];
    // Concurrent, because a careless adapter leaves many waiting for a reply.
    await Promise.all(cases.map(([name, body]) => body().catch(() => failed.push(name))));
    expect(cases.length).toBeGreaterThan(30);
    expect(failed).toContain('A01 A delivery without a signature gets 401');
    expect(failed).toContain('C02 A body that a JSON parser re-serialised gets 401');
    expect(failed.length).toBeGreaterThan(25);
  }, 120_000);

  it('names the missing argument if there is no test runner', () => {
    expect(() => testAdapter('none', () => ({ port: 0, close: () => undefined }))).toThrow(
      'pass them as its last argument',
    );
  });
});
