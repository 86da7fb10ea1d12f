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
    const [, table = '', reference = ''] = /^\/(\w+)\/(.*)$/.exec(req.url ?? '') ?? [];
    const order = decodeURIComponent(reference);
    const answer = (value: unknown): unknown =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (!orders.has(order)) return void res.writeHead(404).end();
    const credited = entries.get(`/credits/${order}`) ?? 0;
    if (table === 'orders') {
      return void answer({
        ...{ reference: order, amount: 1_500, currency: 'XOF', paid: credited > 0 },
      });
    }
    if (failing.delete(order)) return void res.writeHead(500).end();
    // The conditional write.
    if (table === 'credits' && credited > 0) return void answer(0);
    const entry = `/${table}/${order}`;
    entries.set(entry, (entries.get(entry) ?? 0) + 1);
    answer(1);
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
