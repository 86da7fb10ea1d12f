/**
 * A lock in the database, so that two runs do not ask the service the same questions at a time. No
 * money depends on it: every order is credited once, by any run.
 */
import { withinBounds } from '@paylink/core';
import { connectDatabase, type DatabaseAddress } from '../database.js';

/** Milliseconds for the connection to close. */
const CLOSING = 2_000;

/**
 * The lock of a transaction and not of a session, which PgBouncer could leave behind on a
 * connection of its own. Limits for silent or long transactions would end it before the run.
 */
const BEGIN =
  'BEGIN READ ONLY; SELECT set_config(name, $$0$$, true) FROM pg_settings ' +
  'WHERE name IN ($$idle_in_transaction_session_timeout$$, $$transaction_timeout$$)';
const LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isLocked"';

/** Runs `work` under the lock. Undefined if another process has the lock. */
export async function runAlone<T>(
  address: DatabaseAddress,
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const connecting = connectDatabase(address, 'paylink reconcile');
  // Of its own, because a pool of one connection could not credit meanwhile.
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
