/**
 * A process of turns.test.ts: `turns-process.ts <URL of the database> <store|release before>`. Is sent events, runs all of them at
 * once, each until it is done, and answers with what it saw.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { identify } from '@paylink/core/idempotency';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import type { Event, Seen } from './turns.test.js';

const [database, design] = process.argv.slice(2) as [string, 'store' | 'release before'];
const pool = new pg.Pool({ connectionString: database, max: 2 });
// Outside of every transaction: who is at work on what.
const watch = new pg.Pool({ connectionString: database, max: 2 });
const store = postgresStore(pool);

type Tx = Pick<pg.ClientBase, 'query'>;

let met = false;

async function work(tx: Tx, { reference, kind, alone }: Event): Promise<void> {
  await watch.query('INSERT INTO at_work VALUES ($1, $2)', [alone, process.pid]);
  // The first waits until the other process is at work too, so that the two meet.
  while (!met) met = (await watch.query('SELECT FROM at_work WHERE process <> $1', [process.pid])).rowCount! > 0;
  await tx.query('INSERT INTO effects VALUES ($1, $2)', [reference, kind]);
  await pause(Math.random() * 3);
  await watch.query('DELETE FROM at_work WHERE what = $1', [alone]);
}

/** The claim of the release before turns, which locks by key alone: a copy of its statements. */
async function runAsBefore(key: string, event: Event): Promise<'done' | 'duplicate' | 'in_progress'> {
  const ofTable = createHash('sha256').update('"public"."paylink_marks"').digest().readBigUInt64BE();
  const lock = BigInt.asIntN(64, BigInt(`0x${key.slice(0, 16)}`) ^ ofTable);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query(
      `INSERT INTO "public"."paylink_marks" (key) SELECT decode('${key}', 'hex') WHERE pg_try_advisory_xact_lock(${lock})
       ON CONFLICT (key) DO NOTHING RETURNING pg_current_xact_id()::text AS transaction`,
    );
    if (rowCount === 1) {
      await work(client, event);
      await client.query('COMMIT');
      return 'done';
    }
    const { rows } = await client.query(`SELECT FROM "public"."paylink_marks" WHERE key = decode('${key}', 'hex')`);
    await client.query('ROLLBACK');
    return rows.length > 0 ? 'duplicate' : 'in_progress';
  } finally {
    client.release();
  }
}

async function untilDone(event: Event, seen: Seen): Promise<void> {
  const { key, turn } = await identify(event);
  for (;;) {
    const { signal } = new AbortController();
    const result =
      design === 'store' ? await store.run(key, ({ tx }) => work(tx, event), { signal, turn }) : await runAsBefore(key, event);
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
