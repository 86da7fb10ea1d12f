import type { PgClient, PgPool } from './drivers.js';
import { guard } from './lent-tx.js';
import { stopListening, takeClient } from './pool-connection.js';
import { controlOf } from './sql-text.js';

/**
 * A pool for an ORM whose own transactions hold the mark. Its connections refuse every statement after COMMIT or ROLLBACK until
 * the next BEGIN, and every use after they went back to the pool: a handler whose time is over could otherwise go on writing,
 * outside of any transaction or in another order's. A connection that breaks while an ORM holds it does not end the process.
 */
export function guardedPool<Pool extends PgPool>(pool: Pool): Pool {
  const connect = async (): Promise<PgClient> => guardConnection(await takeClient(pool));
  return new Proxy(pool, {
    get(_, name) {
      const value: unknown = Reflect.get(pool, name, pool);
      if (typeof value !== 'function') return value;
      const method = value as (...values: unknown[]) => unknown;
      // A caller with a callback gets the bare client, as `pool.query` does.
      return (...values: unknown[]) => (name === 'connect' && values.length === 0 ? connect() : method.apply(pool, values));
    },
  });
}

function guardConnection(client: PgClient): PgClient {
  let ended = false;
  const overrides = {
    query(...values: unknown[]) {
      const control = controlOf(values[0]);
      if (ended && control !== 'begins') throw new Error('the transaction is over: nothing more can be done in it');
      ended = control === 'ends';
      return (client as { query(...values: unknown[]): unknown }).query(...values);
    },
    release(error?: Error | boolean) {
      lent.close(new Error('the connection went back to its pool'));
      client.release(error);
      stopListening(client);
    },
  };
  const lent = guard(client, { overrides });
  return lent.target;
}
