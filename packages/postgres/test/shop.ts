import { createHash, randomUUID } from 'node:crypto';
import { isWebhookError } from '@paylink/core';
import { createPayments, type PaymentStore, type RunOptions } from '@paylink/payments';
import { postgresStore, type PoolOptions } from '@paylink/postgres';
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { expect, vi } from 'vitest';
import { WireProxy } from '../../../lab/durability/wire-proxy.js';
import { startPostgres, type PostgresServer } from '../../../test/servers/postgres.js';

/** What a shop needs of its server. */
type Database = Pick<PostgresServer, 'port' | 'url' | 'close'>;

/** A server of a test's own; or where one is shared, a database of its own on that. */
export async function openServer(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Database> {
  // Named by lab/mutants/run.ts: each mutant runs a few tests, and would start a server for each of
  // their files.
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
  return {
    port: Number(url.port),
    url: url.href,
    close: () => run(`DROP DATABASE "${name}" WITH (FORCE)`),
  };
}

export const neverAborted: AbortSignal = new AbortController().signal;

/** For tests that look at the outcome. */
export const silent = { warn: (): void => undefined, error: (): void => undefined };

export type Tx = Pick<PoolClient, 'query'>;

type Credit<T> = (tx: T, reference: string, signal: AbortSignal) => unknown;

export interface ReceiverOptions {
  readonly timeout?: number | undefined;
}

/** A merchant's database with orders, and receivers in front of it. */
export class Shop<Server extends Database = Database> {
  /** Not the merchant's: the tests look with it. */
  readonly admin: Pool;
  readonly server: Server;
  readonly #pools = new Map<Pool, PoolClient[]>();
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
    await shop.admin.query(
      'CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, credited int NOT NULL DEFAULT 0)',
    );
    return shop;
  }

  /** A pool of the merchant's, named so that its connections can be told from others. */
  pool(config: PoolConfig = {}): Pool {
    const pool = new Pool({
      connectionString: this.server.url,
      application_name: 'merchant',
      max: 5,
      ...config,
    });
    pool.on('error', () => undefined);
    const clients: PoolClient[] = [];
    pool.on('connect', (client) => clients.push(client.on('error', () => undefined)));
    this.#pools.set(pool, clients);
    return pool;
  }

  /** A pool that goes through a proxy, which applies faults to its statements. */
  async faultyPool(
    config: PoolConfig = {},
  ): Promise<{ readonly pool: Pool; readonly proxy: WireProxy }> {
    const proxy = await WireProxy.before(this.server.port);
    this.#proxies.push(proxy);
    return {
      proxy,
      pool: this.pool({ connectionString: proxy.urlOf(this.server.url), ...config }),
    };
  }

  async order(): Promise<string> {
    const reference = `order-${process.pid}-${(this.#orders += 1)}-${Math.random()}`;
    await this.admin.query('INSERT INTO orders (reference) VALUES ($1)', [reference]);
    return reference;
  }

  async creditsOf(reference: string): Promise<number> {
    const { rows } = await this.admin.query<{ credited: number }>(
      'SELECT credited FROM orders WHERE reference = $1',
      [reference],
    );
    return rows[0]!.credited;
  }

  /** Gives payments over a pool. The returned function receives an event and gives the status. */
  receiver(
    pool: Pool,
    work: Credit<Tx> = credit,
    { timeout, ...options }: PoolOptions<PoolClient> & ReceiverOptions = {},
  ): (reference: string) => Promise<number> {
    return receiverOn(postgresStore(pool, { logger: silent, ...options }), work, { timeout });
  }

  /** Expects every connection back in its pool, and no open transaction of the merchant. */
  async expectAtRest(pool: Pool): Promise<void> {
    await vi.waitFor(
      async () => {
        expect({ lent: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }).toEqual({
          lent: 0,
          waiting: 0,
        });
        const open =
          "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'merchant' AND state <> 'idle'";
        expect((await this.admin.query(open)).rows).toEqual([]);
      },
      { timeout: 10_000, interval: 10 },
    );
  }

  /** Ends the merchant's side. */
  async rest(): Promise<void> {
    for (const [pool, clients] of this.#pools) {
      const ending = pool.end();
      // Work that never settles keeps its connection for ever, and the pool waits for it.
      if (pool.totalCount > 0) for (const client of clients) void (client as Client).end();
      else await ending;
    }
    this.#pools.clear();
    for (const proxy of this.#proxies.splice(0)) await proxy.close();
  }

  async close(): Promise<void> {
    await this.rest();
    await this.admin.end();
    await this.server.close();
  }
}

/** Payments over a store. The returned function receives an event and gives the status. */
export function receiverOn<T>(
  store: PaymentStore<T>,
  work: Credit<T>,
  { timeout = 20_000 }: ReceiverOptions = {},
): (reference: string) => Promise<number> {
  const payments = createPayments({
    store,
    timeout,
    logger: silent,
    client: {
      getPayment: (reference: string) => Promise.resolve({ reference, status: 'success' as const }),
    },
    credit: ({ reference }, { tx, signal }) => work(tx, reference, signal) as Promise<number>,
  });
  return async (reference) => {
    const rawBody = Buffer.from(JSON.stringify({ reference }));
    const event = {
      type: 'payment.succeeded',
      reference,
      payload: { reference },
      rawBody,
      secretIndex: 0,
    };
    try {
      await payments.receive(event);
      return 200;
    } catch (error) {
      return isWebhookError(error) ? error.status : 500;
    }
  };
}

/** The digests that payments makes of the kind and the reference. */
export function keyOf(reference: string, kind = 'payment.succeeded'): string {
  return sha256(`${kind}:${reference}`);
}

/** The options of one run. */
export function runOf(reference: string, signal: AbortSignal = neverAborted): RunOptions {
  return { signal, turn: sha256(JSON.stringify([null, reference])) };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Gives the number of rows that it changed. */
export async function credit(tx: Tx, reference: string): Promise<number> {
  const sql = 'UPDATE orders SET credited = credited + 1 WHERE reference = $1';
  return (await tx.query(sql, [reference])).rowCount ?? 0;
}

/** The recipe: an order that is paid already is not credited again. */
export async function creditOnce(tx: Tx, reference: string): Promise<number | 'already_credited'> {
  const locked = 'SELECT credited FROM orders WHERE reference = $1 FOR UPDATE';
  const { rows } = await tx.query<{ credited: number }>(locked, [reference]);
  return rows[0]!.credited > 0 ? 'already_credited' : credit(tx, reference);
}

/** As ORMs do it: nothing of theirs stops a client from being used when its transaction is over. */
export async function transaction(
  pool: Pool,
  work: (tx: PoolClient) => Promise<void>,
): Promise<void> {
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
