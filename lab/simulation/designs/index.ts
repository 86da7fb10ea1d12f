import type { RunOptions } from '@paylink/payments';
import { redisStore } from '@paylink/redis';
import { brokenDesigns } from './broken.js';
import type { Design, Surroundings } from './design.js';
import {
  naive,
  oneUpdate,
  onPostgres,
  recipe,
  startPaylink,
  type Parts,
  type Queryable,
  type Store,
} from './paylink.js';

function right(description: string, parts: Parts): Design {
  return {
    description,
    broken: false,
    refunds: parts.refunds ?? false,
    comparesAmounts: parts.credit !== oneUpdate,
    start: (surroundings) => startPaylink(surroundings, parts),
  };
}

/**
 * `redisStore` with a separate database transaction. The order's own row makes the credit
 * idempotent.
 */
const onRedis = ({ world, life, pool }: Surroundings): Store => {
  const store = redisStore(world.redis.clientFor(life));
  return {
    isDone: (key: string) => store.isDone(key),
    run: (key: string, work: (tx: Queryable) => Promise<void>, options: RunOptions) =>
      store.run(
        key,
        async () => {
          const client = await pool.connect();
          try {
            await client.query('BEGIN');
            await work(client as unknown as Queryable);
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
  postgres: right('postgresStore, and the recipe as the documentation shows it', {
    store: onPostgres,
    credit: recipe,
    refunds: true,
  }),
  'postgres-naive': right('the same with a credit that leaves it to the store that it runs once', {
    store: onPostgres,
    credit: naive,
    refunds: true,
  }),
  'postgres-second-merchant': right(
    'the same, and a first merchant that stays without a name beside a second one',
    {
      store: onPostgres,
      credit: naive,
      refunds: true,
      tenantOf: (path, { world }) => path !== world.tenants[0] && path,
    },
  ),
  'postgres-one-update': right(
    'the same with a credit that is one UPDATE, and returns the count of its rows',
    {
      store: onPostgres,
      credit: oneUpdate,
    },
  ),
  redis: right('redisStore, with a credit that is idempotent itself', {
    store: onRedis,
    credit: recipe,
  }),
  ...brokenDesigns,
} satisfies Record<string, Design>;

export type DesignName = keyof typeof designs;

export const DESIGN_NAMES = Object.keys(designs) as DesignName[];
export const BROKEN_NAMES = DESIGN_NAMES.filter((name) => designs[name].broken);
