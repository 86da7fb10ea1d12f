import { sqlStates } from './database.js';
import type { PreparedClaim, RunStatements } from './marks.js';
import type { PgClient } from './options.js';
import type { PoolConnection, Result } from './pool-connection.js';

type Connection = PoolConnection<PgClient>;

/**
 * By connection and name, whether its session has the statement; false where a failure left that open. For all stores at once, since
 * two of them can be on one pool.
 */
const sessions = new WeakMap<PgClient, Map<string, boolean>>();

/** The session has no such statement, or has it already: a pooler gave another session, or a handler ran DEALLOCATE. */
const OTHER_SESSION: readonly unknown[] = ['26000', '42P05'];

/** The claims of a pool's transactions, prepared by each session: planning a claim costs the server more than running it. */
export class Claims {
  readonly #begin: string;
  #prepares: boolean;

  /** @param prepares until a connection turns out to lead to several sessions, or to one that lost what it had prepared */
  constructor(begin: string, prepares: boolean) {
    this.#begin = begin;
    this.#prepares = prepares;
  }

  /** Begins a transaction and claims in it, in one message. The last result is the claim's. */
  async send(connection: Connection, { claim, prepared }: RunStatements): Promise<readonly Result[]> {
    if (prepared !== undefined && this.#prepares && namesOf(connection).get(prepared.name) !== false) {
      try {
        return await this.#sendPrepared(connection, prepared);
      } catch (error) {
        if (!sqlStates(error).some((state) => OTHER_SESSION.includes(state))) throw error;
        this.#prepares = false;
        await connection.query('ROLLBACK');
      }
    }
    return connection.query(`${this.#begin}; ${claim()}`);
  }

  async #sendPrepared(connection: Connection, { name, prepare, execute }: PreparedClaim): Promise<readonly Result[]> {
    const names = namesOf(connection);
    if (names.has(name)) return connection.query(`${this.#begin}; ${execute}`);
    // Should the message fail, the session may have run PREPARE before, or not.
    names.set(name, false);
    const results = await connection.query(`${this.#begin}; ${prepare}; ${execute}`);
    names.set(name, true);
    return results;
  }
}

function namesOf({ client }: Connection): Map<string, boolean> {
  let names = sessions.get(client);
  if (names === undefined) sessions.set(client, (names = new Map<string, boolean>()));
  return names;
}
