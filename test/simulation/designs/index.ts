import type { RunOptions } from '@paylink/core';
import { redisStore } from '@paylink/redis';
import { brokenDesigns } from './broken.js';
import type { Design, Surroundings } from './design.js';
import { careless, naive, onPostgres, recipe, startPaylink, type Parts, type Queryable } from './paylink.js';

function right(description: string, parts: Parts): Design {
  return {
    description,
    broken: false,
    refunds: parts.refunds ?? false,
    comparesAmounts: parts.credit !== careless,
    start: (surroundings) => startPaylink(surroundings, parts),
  };
}

/** `redisStore`, and the handler's transaction on the database beside it: idempotent by the order's own row. */
const onRedis = ({ world, life, pool }: Surroundings) => {
  const store = redisStore(world.redis.clientFor(life));
  return {
    isDone: (key: string) => store.isDone(key),
    run: (key: string, work: (scope: { readonly tx: Queryable }) => Promise<void>, options: RunOptions) =>
      store.run(
        key,
        async () => {
          const client = await pool.connect();
          try {
            await client.query('BEGIN');
            await work({ tx: client as unknown as Queryable });
            await client.query('COMMIT');
            client.release();
          } catch (error) {
            client.release(true);
            throw error;
          }
        },
        options,
      ),
  };
};

export const designs = {
  postgres: right('postgresStore, confirm, reconcile, and the recipe as the documentation shows it', {
    store: onPostgres,
    credit: recipe,
    refunds: true,
  }),
  'postgres-naive': right('the same with a handler that leaves it to the store that it runs once', {
    store: onPostgres,
    credit: naive,
    refunds: true,
  }),
  'postgres-careless': right('the same with a handler that ignores how many rows its UPDATE changed', {
    store: onPostgres,
    credit: careless,
  }),
  redis: right('redisStore, with a handler that is idempotent itself', { store: onRedis, credit: recipe }),
  ...brokenDesigns,
} satisfies Record<string, Design>;

export type DesignName = keyof typeof designs;

export const DESIGN_NAMES = Object.keys(designs) as DesignName[];
export const BROKEN_NAMES = DESIGN_NAMES.filter((name) => designs[name].broken);
