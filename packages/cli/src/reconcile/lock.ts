/**
 * A database lock that keeps two runs from asking the service the same questions. Money does not
 * depend on this lock: overlapping runs still credit each order once.
 */
import { withinBounds } from '@paylink/core/internal';
import { connectDatabase, type DatabaseAddress } from '../database.js';

const CLOSING = 2_000;

/**
 * Begins a transaction-level lock, because PgBouncer could leave a session-level lock on its own
 * connection. Lifts limits for idle or long transactions, which would end the lock before the run.
 */
const BEGIN =
  'BEGIN READ ONLY; SELECT set_config(name, $$0$$, true) FROM pg_settings ' +
  'WHERE name IN ($$idle_in_transaction_session_timeout$$, $$transaction_timeout$$)';
const LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isLocked"';

/** Runs `work` under the lock. Returns undefined if another process has the lock. */
export async function runAlone<T>(
  address: DatabaseAddress,
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const connecting = connectDatabase(address, 'paylink reconcile');
  // A separate connection: a pool of one could not credit meanwhile.
  const client = await withinBounds(connecting, { signals: [signal] });
  try {
    const locking = async (): Promise<boolean> => {
      await client.query(BEGIN);
      const { rows } = await client.query<{ isLocked: boolean }>(LOCK, [name]);
      return rows[0]!.isLocked;
    };
    return (await withinBounds(locking(), { signals: [signal] })) ? await work() : undefined;
  } finally {
    await withinBounds(client.end(), { milliseconds: CLOSING }).catch(() => undefined);
  }
}
