/** The stores on their engines, for the property in linearizable.ts. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { memoryStore } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { redisStore, type RedisScope } from '@paylink/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startPostgres } from '../../test/servers/postgres.js';
import { startRedis } from '../../test/servers/redis.js';
import type { StoreUnderTest } from './linearizable.js';

type Closable<Tx> = StoreUnderTest<Tx> & { close(): Promise<void> };

export function onMemory(): Closable<undefined> {
  const pause = async (steps: number): Promise<void> => {
    for (let step = 0; step < steps; step++) await turn();
  };
  return { stores: [memoryStore()], pause, close: () => Promise.resolve() };
}

export async function onPostgres(): Promise<Closable<Pick<pg.PoolClient, 'query'>>> {
  const server = await startPostgres();
  const pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 4 }));
  for (const pool of pools) pool.on('error', () => undefined);
  const stores = pools.map((pool) => postgresStore(pool));
  await stores[0]!.migrate();
  const [pool] = pools as [pg.Pool, pg.Pool];
  await pool.query('CREATE TABLE effects (key text NOT NULL)');
  return {
    stores,
    pause: (steps) => sleep(steps),
    ledger: {
      async write(key, tx) {
        await tx.query('INSERT INTO effects VALUES ($1)', [key]);
      },
      async count(key) {
        const { rows } = await pool.query<{ count: string }>(
          'SELECT count(*) FROM effects WHERE key = $1',
          [key],
        );
        return Number(rows[0]!.count);
      },
    },
    async close() {
      await Promise.all(pools.map((each) => each.end()));
      await server.close();
    },
  };
}

export async function onRedis(): Promise<Closable<RedisScope>> {
  const server = await startRedis();
  const clients = [1, 2].map(() => new Redis(server.url));
  return {
    stores: clients.map((client) => redisStore(client)),
    pause: (steps) => sleep(steps),
    async close() {
      for (const client of clients) client.disconnect();
      await server.close();
    },
  };
}
