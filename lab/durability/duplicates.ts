/** Sends each order's notification a hundred times at once to two processes. */
import type { PostgresServer } from '../../test/servers/postgres.js';
import { Book, type Verdict } from './book.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { Sender } from './sender.js';

export interface DuplicatesPlan {
  readonly orders: number;
  /** Concurrent notifications per order. Default 100. */
  readonly copies?: number;
  /** Called after each order. */
  readonly onOrder?: (done: number) => void;
}

export interface DuplicatesReport extends Verdict {
  readonly deliveries: number;
  /** The number of replies by status. */
  readonly replies: ReadonlyMap<number, number>;
  readonly cut: number;
  readonly seconds: number;
}

export async function runDuplicates(
  server: PostgresServer,
  { orders, copies = 100, onOrder }: DuplicatesPlan,
): Promise<DuplicatesReport> {
  const book = await Book.open(server, 'duplicates');
  const receivers = await Receivers.start({
    design: 'postgresStore',
    database: book.url,
    connections: 10,
    workMs: 4,
  });
  const sender = new Sender(receivers.ports, new Random(1));
  const replies = new Map<number, number>();
  const started = performance.now();
  try {
    for (const [index, reference] of (await book.addOrders(orders)).entries()) {
      const statuses = await Promise.all(
        Array.from({ length: copies }, async () => {
          const seen = await sender.untilAcknowledged(reference);
          await book.acknowledge(reference);
          return seen;
        }),
      );
      for (const status of statuses.flat()) replies.set(status, (replies.get(status) ?? 0) + 1);
      onOrder?.(index + 1);
    }
    const seconds = (performance.now() - started) / 1_000;
    return {
      deliveries: orders * copies,
      replies,
      cut: sender.attempts.cut,
      seconds,
      ...(await book.verdict()),
    };
  } finally {
    sender.close();
    await receivers.close();
    await book.close();
  }
}
