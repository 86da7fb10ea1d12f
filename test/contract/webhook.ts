import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request with the exact bytes of its body. */
export interface Notification {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Webhook {
  readonly url: string;
  readonly notifications: readonly Notification[];
  close(): Promise<void>;
}

/** Receives on a real socket with only node:http, and acknowledges everything. */
export async function startWebhook(): Promise<Webhook> {
  const notifications: Notification[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      notifications.push({
        method: req.method,
        path: req.url,
        headers: req.headers,
        body: Buffer.concat(chunks),
      });
      res.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`,
    notifications,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
