/**
 * A process of turns.test.ts: `turns-process.ts <database URL>`. Receives events, runs all of them
 * at once until each is done, and answers with its observations.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { identify } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import type { Event, Seen } from './turns.test.js';

const database = process.argv[2]!;
const pool = new pg.Pool({ connectionString: database, max: 2 });
// Outside every transaction: records the running work.
const watch = new pg.Pool({ connectionString: database, max: 2 });
const store = postgresStore(pool);

type Tx = Pick<pg.ClientBase, 'query'>;

let met = false;

async function work(tx: Tx, { reference, kind }: Event): Promise<void> {
  await watch.query('INSERT INTO at_work VALUES ($1, $2)', [reference, process.pid]);
  // The first run waits until the other process runs too, so that the two meet.
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
