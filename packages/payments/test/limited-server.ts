import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service with a rate limit: refuses reads beyond the limit with 429 and the time left. */
export interface LimitedServer {
  readonly baseUrl: string;
  /** References that were answered, in their order. */
  readonly answered: readonly string[];
  /** How many reads each window has refused. */
  readonly refused: readonly number[];
  /** As if the limit had recovered, for a process that starts much later. */
  nextWindow(): void;
  close(): void;
}

/** @param statusOf the status of a reference's payment */
export async function startLimitedServer(
  limit: number,
  windowMs: number,
  statusOf: (reference: string) => string,
): Promise<LimitedServer> {
  const answered: string[] = [];
  const refused = [0];
  let windowEnd = 0;
  let left = limit;
  const server = createServer((request, response) => {
    const now = performance.now();
    if (now >= windowEnd) {
      windowEnd = now + windowMs;
      left = limit;
      refused.push(0);
    }
    if (left === 0) {
      refused[refused.length - 1]!++;
      response.writeHead(429, { 'Retry-After': `${Math.ceil((windowEnd - now) / 1_000)}` }).end();
      return;
    }
    left--;
    const reference = decodeURIComponent(request.url!.split('/').at(-1)!);
    answered.push(reference);
    const payment = {
      reference,
      type: 'payment',
      amount: 1_000,
      currency: 'XOF',
      status: statusOf(reference),
    };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(payment));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    answered,
    refused,
    nextWindow: () => void (windowEnd = 0),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
