import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { Book } from './book.js';

export interface Event {
  readonly reference: string;
  readonly kind: string;
}

/** The number of runs by their end. */
export interface Seen {
  done: number;
  duplicate: number;
  in_progress: number;
}

const PAIRS = 100;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: 'off' });
}, 60_000);
afterAll(() => server.close());

async function start(book: Book): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('turns-process.ts', import.meta.url)), [book.url], {
    execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
  });
  await once(child, 'message');
  return child;
}

/**
 * Sends all events to each process at the same time, to the second in reverse order. Returns the
 * observations of each.
 */
async function runIn(
  processes: readonly ChildProcess[],
  events: readonly Event[],
): Promise<Seen[]> {
  const answers = processes.map(async (child, number) => {
    const answered = once(child, 'message') as Promise<
      [{ readonly seen: Seen; readonly error?: string }]
    >;
    child.send(number === 0 ? events : events.toReversed());
    const [{ seen, error }] = await answered;
    expect(error).toBeUndefined();
    return seen;
  });
  return Promise.all(answers);
}

async function open(): Promise<Book> {
  const book = await Book.open(server, 'turns');
  await book.query('CREATE TABLE effects (reference text, kind text)');
  // Two runs of one order must never overlap.
  await book.query('CREATE TABLE at_work (reference text PRIMARY KEY, process int NOT NULL)');
  return book;
}

const kinds = ['payment.succeeded', 'payment.refunded'];
const events: readonly Event[] = Array.from(
  { length: PAIRS },
  (_, number) => `order-${number}`,
).flatMap((reference) => kinds.map((kind) => ({ reference, kind })));

describe('two processes with a pool of 2 each, and 100 pairs of events at once', () => {
  it('take turns and have each effect once', async () => {
    const book = await open();
    const processes = await Promise.all([start(book), start(book)]);
    try {
      const [first, second] = await runIn(processes, events);
      const [counts] = await book.query(
        'SELECT count(*)::int AS effects, count(DISTINCT (reference, kind))::int AS events FROM effects',
      );
      expect(counts).toEqual({ effects: 2 * PAIRS, events: 2 * PAIRS });
      expect(first!.done + second!.done).toBe(2 * PAIRS);
      expect(first!.duplicate + second!.duplicate).toBe(2 * PAIRS);
    } finally {
      for (const child of processes) child.disconnect();
      await Promise.all(processes.map((child) => once(child, 'exit')));
      await book.close();
    }
  });
});
