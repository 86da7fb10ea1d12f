import type { PgClient, PgPool } from './databases.js';
import { guard } from './guard.js';
import { stopListening, takeClient } from './take-client.js';
import { controlOf } from './transaction-control.js';

/**
 * A pool for an ORM whose own transactions hold the mark. A connection of it refuses whatever comes after COMMIT or ROLLBACK, or
 * after it went back: a handler whose time is over could else go on writing by it, outside of any transaction or in somebody
 * else's. And a connection that breaks while an ORM holds it does not end the process.
 */
export function guardedPool<Pool extends PgPool>(pool: Pool): Pool {
  const connect = async (): Promise<PgClient> => guardConnection(await takeClient(pool));
  return new Proxy(pool, {
    get(_, name) {
      const value: unknown = Reflect.get(pool, name, pool);
      if (typeof value !== 'function') return value;
      const method = value as (...values: unknown[]) => unknown;
      // Who calls back gets the bare client, as `pool.query` does.
      return (...values: unknown[]) => (name === 'connect' && values.length === 0 ? connect() : method.apply(pool, values));
    },
  });
}

function guardConnection(client: PgClient): PgClient {
  let ended = false;
  const lent = guard(client, {
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
  });
  return lent.target;
}
