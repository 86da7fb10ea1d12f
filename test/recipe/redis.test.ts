import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import type { PaymentStore, RunResult } from '@paylink/payments';
import { redisStore, type RedisScope } from '@paylink/redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { creditOrder } from '../../examples/shop/src/credit-order.js';
import { startRedis, withoutRedis, type RedisServer } from '../servers/redis.js';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Returns the documented statement with the fencing token. */
function shownIn(path: string): string {
  const found = read(path).matchAll(/`(UPDATE orders SET paid_at[^`]*)`/g);
  const statements = Array.from(found, ([, statement]) => statement!.replace(/\s*\n[ *]*/g, ' '));
  expect(statements).toHaveLength(1);
  return statements[0]!;
}

/** All runs share one order. */
function run(
  store: PaymentStore<RedisScope>,
  key: string,
  work: (scope: RedisScope) => Promise<void>,
): Promise<RunResult> {
  return store.run(key, work, { signal: new AbortController().signal, turn: 'order-1' });
}

/** The column as in the README. */
const FENCE = 'fence bigint NOT NULL DEFAULT 0';

describe.skipIf(withoutRedis())('a credit beside redisStore', () => {
  let server: RedisServer;
  let redis: Redis;
  let db: PGlite;
  let holder: ChildProcess | undefined;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis({ port: server.port });
    db = new PGlite();
    await db.waitReady;
  }, 60_000);
  beforeEach(async () => {
    await redis.flushall();
    await db.exec(`DROP TABLE IF EXISTS orders; CREATE TABLE orders (reference text PRIMARY KEY, amount int NOT NULL,
      currency text NOT NULL DEFAULT 'XOF', paid_at timestamptz, ${FENCE}, credits int NOT NULL DEFAULT 0);
      INSERT INTO orders VALUES ('order-1', 5000)`);
    // Each statement that changes paid_at is a credit.
    await db.exec(`CREATE OR REPLACE FUNCTION credit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.credits := OLD.credits + 1; RETURN NEW; END $$;
      CREATE TRIGGER credit BEFORE UPDATE OF paid_at ON orders FOR EACH ROW EXECUTE FUNCTION credit()`);
  });
  afterEach(() => holder?.kill('SIGKILL'));
  afterAll(async () => {
    redis.disconnect();
    await server.close();
    await db.close();
  });

  /**
   * Credits in a process that is killed before its mark, in a retry, and in a delivery after
   * FLUSHDB.
   */
  async function crashRetryAndForget(
    credit: (scope: Pick<RedisScope, 'fencingToken'>) => Promise<unknown>,
  ): Promise<number> {
    const file = fileURLToPath(new URL('../../packages/redis/test/holder.ts', import.meta.url));
    holder = fork(file, [`${server.port}`, 'order-1', '500'], {
      execArgv: ['--conditions=@paylink/source', '--import', 'tsx'],
    });
    const [first] = (await once(holder, 'message')) as [{ fencingToken: number }];
    await credit(first);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const work = async (scope: RedisScope): Promise<void> => {
      await credit(scope);
    };
    const deliver = () => run(redisStore(redis), 'order-1', work);
    await vi.waitFor(async () => expect(await deliver()).toBe('done'), 10_000);
    await redis.flushdb();
    expect(await deliver()).toBe('done');
    return (await db.query<{ credits: number }>('SELECT credits FROM orders')).rows[0]!.credits;
  }

  it.each(['packages/redis/README.md', 'packages/redis/src/redis-store.ts'])(
    'credits once after a crash, a retry and FLUSHDB, with the statement of %s',
    async (path) => {
      const statement = shownIn(path);
      expect(
        await crashRetryAndForget(({ fencingToken }) =>
          db.query(statement, ['order-1', fencingToken]),
        ),
      ).toBe(1);
    },
    20_000,
  );

  it('credits three times with the fencing token alone', async () => {
    const statement = shownIn('packages/redis/README.md').replace(' AND paid_at IS NULL', '');
    expect(
      await crashRetryAndForget(({ fencingToken }) =>
        db.query(statement, ['order-1', fencingToken]),
      ),
    ).toBe(3);
  }, 20_000);

  it('credits once with the recipe in its own transaction', async () => {
    const payment = { reference: 'order-1', amount: 5_000, currency: 'XOF' };
    expect(await crashRetryAndForget(() => db.transaction((tx) => creditOrder(tx, payment)))).toBe(
      1,
    );
  }, 20_000);

  it('refuses the credit of a handler whose lease expired by the newer fencing token', async () => {
    const statement = shownIn('packages/redis/README.md').replace(' AND paid_at IS NULL', '');
    const tokens: number[] = [];
    const store = redisStore(redis);
    for (const kind of ['first', 'second']) {
      await run(store, kind, async ({ fencingToken }) => void tokens.push(fencingToken));
    }
    const changed = async (token: number) =>
      (await db.query(statement, ['order-1', token])).affectedRows;
    expect([await changed(tokens[1]!), await changed(tokens[0]!)]).toEqual([1, 0]);
  });

  it('needs the fence column of the README, since NULL matches no row and an integer overflows', async () => {
    expect(read('packages/redis/README.md')).toContain(FENCE);
    const statement = shownIn('packages/redis/README.md');
    await db.exec('ALTER TABLE orders ALTER fence DROP NOT NULL; UPDATE orders SET fence = NULL');
    expect((await db.query(statement, ['order-1', Date.now() * 1_000])).affectedRows).toBe(0);
    await db.exec('UPDATE orders SET fence = 0; ALTER TABLE orders ALTER fence TYPE integer');
    await expect(db.query(statement, ['order-1', Date.now() * 1_000])).rejects.toThrow(
      /out of range/,
    );
  });
});
