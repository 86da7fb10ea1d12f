/**
 * A process of turns.test.ts: `turns-process.ts <URL of the database>`. Is sent events, runs all of
 * them at once, each until it is done, and answers with what it saw.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { identify } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import type { Event, Seen } from './turns.test.js';

const database = process.argv[2]!;
const pool = new pg.Pool({ connectionString: database, max: 2 });
// Outside of every transaction: who is at work on what.
const watch = new pg.Pool({ connectionString: database, max: 2 });
const store = postgresStore(pool);

type Tx = Pick<pg.ClientBase, 'query'>;

let met = false;

async function work(tx: Tx, { reference, kind }: Event): Promise<void> {
  await watch.query('INSERT INTO at_work VALUES ($1, $2)', [reference, process.pid]);
  // The first waits until the other process is at work too, so that the two meet.
  while (!met)
    met =
      (await watch.query('SELECT FROM at_work WHERE process <> $1', [process.pid])).rowCount! > 0;
  await tx.query('INSERT INTO effects VALUES ($1, $2)', [reference, kind]);
  await pause(Math.random() * 3);
  await watch.query('DELETE FROM at_work WHERE reference = $1', [reference]);
}

async function untilDone(event: Event, seen: Seen): Promise<void> {
  const { key, turn } = await identify(event);
  for (;;) {
    const { signal } = new AbortController();
    const result = await store.run(key, (tx) => work(tx, event), { signal, turn });
    seen[result] += 1;
    if (result !== 'in_progress') return;
    await pause(Math.random() * 5);
  }
}

process.on('message', (events: Event[]) => {
  const seen: Seen = { done: 0, duplicate: 0, in_progress: 0 };
  Promise.all(events.map((event) => untilDone(event, seen))).then(
    () => process.send!({ seen }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send!('ready');
