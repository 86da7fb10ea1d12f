/**
 * The merchant's database as a separate server, so that a host's credits are visible from outside.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Books {
  readonly url: string;
  /** Adds orders. Only these can be credited. */
  add(...references: readonly string[]): void;
  credits(reference: string): number;
  refunds(reference: string): number;
  /** Answers the next entry of an order with an error, as a failed database does. */
  failOnce(reference: string): void;
  close(): void;
}

export async function openBooks(): Promise<Books> {
  const entries = new Map<string, number>();
  const orders = new Set<string>();
  const failing = new Set<string>();
  const server = createServer((req, res) => {
    const entry = decodeURIComponent(req.url ?? '');
    const reference = entry.replace(/^\/\w+\//, '');
    if (!orders.has(reference)) return void res.writeHead(404).end();
    if (failing.delete(reference)) return void res.writeHead(500).end();
    entries.set(entry, (entries.get(entry) ?? 0) + 1);
    res.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (...references) => {
      for (const reference of references) orders.add(reference);
    },
    credits: (reference) => entries.get(`/credits/${reference}`) ?? 0,
    refunds: (reference) => entries.get(`/refunds/${reference}`) ?? 0,
    failOnce: (reference) => failing.add(reference),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
