import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../engines/postgres.js';
import { Book } from './book.js';

export interface Event {
  readonly reference: string;
  readonly kind: string;
  /** No two runs with the same may be at work at once. */
  readonly alone: string;
}

/** How often a run ended how. */
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

async function start(book: Book, design: 'store' | 'release before'): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('turns-process.ts', import.meta.url)), [book.url, design], {
    execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
  });
  await once(child, 'message');
  return child;
}

/** Sends all events to each process at the same time, to the second in reverse, and gives what each saw. */
async function runIn(processes: readonly ChildProcess[], events: readonly Event[]): Promise<Seen[]> {
  const answers = processes.map(async (child, number) => {
    const answered = once(child, 'message') as Promise<[{ readonly seen: Seen; readonly error?: string }]>;
    child.send(number === 0 ? events : events.toReversed());
    const [{ seen, error }] = await answered;
    expect(error).toBeUndefined();
    return seen;
  });
  return Promise.all(answers);
}

async function open(name: string): Promise<Book> {
  const book = await Book.open(server, name);
  await book.query('CREATE TABLE effects (reference text, kind text)');
  await book.query('CREATE TABLE at_work (what text PRIMARY KEY, process int NOT NULL)');
  return book;
}

const kinds = ['payment.succeeded', 'payment.refunded'];
const pairsOf = (alone: (reference: string, kind: string) => string): Event[] =>
  Array.from({ length: PAIRS }, (_, number) => `order-${number}`).flatMap((reference) =>
    kinds.map((kind) => ({ reference, kind, alone: alone(reference, kind) })),
  );

async function expectEachOnce(book: Book): Promise<void> {
  const [counts] = await book.query(
    'SELECT count(*)::int AS effects, count(DISTINCT (reference, kind))::int AS events FROM effects',
  );
  expect(counts).toEqual({ effects: 2 * PAIRS, events: 2 * PAIRS });
}

describe('two processes with a pool of 2 each, and 100 pairs of events at once', () => {
  it.each([
    ['store', (reference: string) => reference],
    // The release before does not know turns: it excludes runs of the same key.
    ['release before', (reference: string, kind: string) => `${kind}:${reference}`],
  ] as const)('take turns and have each effect once, beside a process with the %s (N06)', async (other, alone) => {
    const book = await open(`turns_${other.replace(' ', '_')}`);
    const processes = await Promise.all([start(book, 'store'), start(book, other)]);
    try {
      const [first, second] = await runIn(processes, pairsOf(alone));
      await expectEachOnce(book);
      expect(first!.done + second!.done).toBe(2 * PAIRS);
      expect(first!.duplicate + second!.duplicate).toBe(2 * PAIRS);
    } finally {
      for (const child of processes) child.disconnect();
      await Promise.all(processes.map((child) => once(child, 'exit')));
      await book.close();
    }
  });
});
