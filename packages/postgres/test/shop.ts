import { randomUUID } from 'node:crypto';
import { createReceiver, type Reply } from '@paylink/core';
import { postgresStore, type PoolOptions } from '@paylink/postgres';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { expect, vi } from 'vitest';
import { WireProxy } from '../../../test/durability/wire-proxy.js';
import { startPostgres, type PostgresServer } from '../../../test/engines/postgres.js';

/** What a shop needs of its server. */
type Database = Pick<PostgresServer, 'port' | 'url' | 'close'>;

/** A server of a test's own; or where one is shared, a database of its own on that. */
export async function openServer(settings: Readonly<Record<string, string | number>> = {}): Promise<Database> {
  // Named by test/mutants/run.ts: each mutant runs a few tests, and would start a server for each of their files.
  const shared = process.env['PAYLINK_SHARED_POSTGRES'];
  if (shared === undefined) return startPostgres({ fsync: 'off', ...settings });
  const name = `test_${randomUUID()}`;
  const run = async (sql: string): Promise<void> => {
    const client = new Client({ connectionString: shared });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`CREATE DATABASE "${name}"`);
  const url = new URL(shared);
  url.pathname = `/${name}`;
  return { port: Number(url.port), url: url.href, close: () => run(`DROP DATABASE "${name}" WITH (FORCE)`) };
}

export const neverAborted: AbortSignal = new AbortController().signal;

type Credit = (tx: PoolClient, reference: string, signal: AbortSignal) => unknown;

/** A merchant's database with orders, and receivers in front of it. */
export class Shop<Server extends Database = Database> {
  /** Not the merchant's: what the tests look with. */
  readonly admin: Pool;
  readonly server: Server;
  readonly #pools: Pool[] = [];
  readonly #proxies: WireProxy[] = [];
  #orders = 0;

  private constructor(server: Server) {
    this.server = server;
    this.admin = new Pool({ connectionString: server.url, max: 2 });
  }

  static async open(settings: Readonly<Record<string, string | number>> = {}): Promise<Shop> {
    return Shop.on(await openServer(settings));
  }

  /** On a server that ends with it. */
  static async on<Server extends Database>(server: Server): Promise<Shop<Server>> {
    const shop = new Shop(server);
    await postgresStore(shop.admin).migrate();
    await shop.admin.query('CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, credited int NOT NULL DEFAULT 0)');
    return shop;
  }

  /** A pool of the merchant's, named so that its connections can be told from others. */
  pool(config: PoolConfig = {}): Pool {
    const pool = new Pool({ connectionString: this.server.url, application_name: 'merchant', max: 5, ...config });
    pool.on('error', () => undefined);
    this.#pools.push(pool);
    return pool;
  }

  /** A pool that goes through a proxy, which applies faults to its statements. */
  async faultyPool(config: PoolConfig = {}): Promise<{ readonly pool: Pool; readonly proxy: WireProxy }> {
    const proxy = await WireProxy.before(this.server.port);
    this.#proxies.push(proxy);
    return { proxy, pool: this.pool({ connectionString: proxy.urlOf(this.server.url), ...config }) };
  }

  async order(): Promise<string> {
    const reference = `order-${process.pid}-${(this.#orders += 1)}-${Math.random()}`;
    await this.admin.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
    return reference;
  }

  async creditsOf(reference: string): Promise<number> {
    const { rows } = await this.admin.query<{ credited: number }>('SELECT credited FROM orders WHERE reference = $1', [reference]);
    return rows[0]!.credited;
  }

  /** Sends a genuine delivery of this reference to a receiver over the pool. Gives the status. */
  receiver(
    pool: Pool,
    handler: Credit = credit,
    { handlerTimeout = 20_000, ...options }: PoolOptions<PoolClient> & { handlerTimeout?: number } = {},
  ): (reference: string) => Promise<number> {
    const quiet = { error: () => undefined, warn: () => undefined };
    const receiver = createReceiver(
      { secret: TEST_SECRET, idempotency: postgresStore(pool, options), handlerTimeout, logger: quiet },
      { 'payment.succeeded': ({ reference }, { tx, signal }) => handler(tx, reference, signal) },
    );
    return async (reference) => {
      const { headers, rawBody } = signedDelivery({ secret: TEST_SECRET, reference });
      const delivery = { method: 'POST', header: (name: string) => headers[name], body: () => Promise.resolve(rawBody) };
      const reply = await receiver
        .receive(delivery, {})
        .catch((error: unknown): Reply => ({ status: 500, headers: {}, body: String(error) }));
      return reply.status;
    };
  }

  /** Expects every connection back in its pool, and no transaction of the merchant's open on the server. */
  async expectAtRest(pool: Pool): Promise<void> {
    await vi.waitFor(
      async () => {
        expect({ lent: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }).toEqual({ lent: 0, waiting: 0 });
        const open =
          "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'merchant' AND state <> 'idle'";
        expect((await this.admin.query(open)).rows).toEqual([]);
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** Ends the merchant's side. */
  async rest(): Promise<void> {
    for (const pool of this.#pools.splice(0)) await pool.end();
    for (const proxy of this.#proxies.splice(0)) await proxy.close();
  }

  async close(): Promise<void> {
    await this.rest();
    await this.admin.end();
    await this.server.close();
  }
}

export async function credit(tx: Pick<PoolClient, 'query'>, reference: string): Promise<void> {
  await tx.query('UPDATE orders SET credited = credited + 1 WHERE reference = $1', [reference]);
}

/** As ORMs do it: nothing of theirs stops a client from being used when its transaction is over. */
export async function transaction(pool: Pool, work: (tx: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** A promise with what settles it. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
