import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Reply =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang';

/** A merchant's webhook on a real socket, which records requests and gives chosen answers. */
export async function startReceiver(
  answer: (received: Received, count: number) => Reply = () => 200,
) {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const entry = {
        method: req.method,
        url: req.url,
        headers: req.headers,
        body: Buffer.concat(chunks),
      };
      received.push(entry);
      const reply = answer(entry, received.length);
      if (reply === 'hang') return;
      const {
        status,
        headers = {},
        body = '',
      } = typeof reply === 'number' ? { status: reply } : reply;
      res.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`,
    received,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
