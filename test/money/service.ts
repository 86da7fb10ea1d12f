import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that says success for every reference, 1,000 XOF each, over HTTP. */
export async function startService(
  refuse: () => number | undefined = () => undefined,
): Promise<{ readonly baseUrl: string; readonly asked: string[]; close(): void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const reference = decodeURIComponent(request.url!.split('/').at(-1)!);
    asked.push(reference);
    const seconds = refuse();
    if (seconds !== undefined) {
      response.writeHead(429, { 'retry-after': `${seconds}` }).end();
      return;
    }
    const payment = {
      reference,
      type: 'payment',
      amount: 1_000,
      currency: 'XOF',
      status: 'success',
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(payment));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    asked,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
