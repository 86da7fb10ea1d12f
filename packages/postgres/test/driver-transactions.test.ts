/** Transactions that an ORM begins and ends, with what the statements of ORMs look like. */
import { postgresStore } from '@paylink/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../src/marks.js';
import { credit, neverAborted, Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);
afterEach(() => shop.rest());
afterAll(() => shop.close());

type Query = (sql: string, values?: unknown[]) => Promise<{ readonly rows: unknown[] }>;
type Work = (tx: never) => Promise<void>;

/** A database whose transactions end with `end`, and run SQL as `txOf` says. */
function database(txOf: (query: Query) => object = (query) => ({ query }), end = 'COMMIT') {
  const pool = shop.pool();
  return {
    transaction: async (work: Work): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(txOf((sql, values) => client.query(sql, values)) as never);
        await client.query(end);
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

const failure = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    (value) => `resolved with ${String(value)}`,
    (error: unknown) => error,
  );

describe('a store in the transactions of an ORM', () => {
  it.each<[string, (query: Query) => object]>([
    ['query', (query) => ({ query })],
    ['execute', (query) => ({ execute: query })],
    ['$queryRawUnsafe', (query) => ({ $queryRawUnsafe: (sql: string) => query(sql).then(({ rows }) => rows) })],
  ])('runs its statements by %s', async (_, txOf) => {
    const store = postgresStore(database(txOf), { logger: { warn: () => undefined } });
    await store.migrate();
    const reference = await shop.order();
    const work = vi.fn(() => Promise.resolve());
    expect(await store.run(reference, work, { signal: neverAborted })).toBe('done');
    expect(work).toHaveBeenCalledOnce();
    expect(await postgresStore(shop.admin).isDone(reference)).toBe(true);
  });

  it('finds a duplicate that another process has done, and does not run it', async () => {
    const store = postgresStore(database());
    const reference = await shop.order();
    expect(await postgresStore(shop.admin).run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted })).toBe(
      'done',
    );
    const work = vi.fn(() => Promise.resolve());
    expect(await store.run(reference, work, { signal: neverAborted })).toBe('duplicate');
    expect(work).not.toHaveBeenCalled();
  });

  it('answers in_progress while another process is at work (I09)', async () => {
    const reference = await shop.order();
    const store = postgresStore(database());
    const work = vi.fn(() => Promise.resolve());
    let whileAtWork: unknown;
    await postgresStore(shop.pool()).run(
      reference,
      async ({ tx }) => {
        await credit(tx, reference);
        whileAtWork = await store.run(reference, work, { signal: neverAborted });
      },
      { signal: neverAborted },
    );
    expect(whileAtWork).toBe('in_progress');
    expect(work).not.toHaveBeenCalled();
  });

  it('is not done where the ORM resolves although the server rolled back (I02)', async () => {
    const reference = await shop.order();
    const store = postgresStore(database((query) => ({ query }), 'ROLLBACK'));
    const run = store.run(reference, ({ tx }) => credit(tx, reference), { signal: neverAborted });
    expect(await failure(run)).toMatchObject({ message: expect.stringContaining('ended without a commit') as string });
    expect(await shop.creditsOf(reference)).toBe(0);
    expect(await store.isDone(reference)).toBe(false);
  });

  it('is not done where the ORM never calls the work, also of an order that was done before (I02)', async () => {
    const reference = await shop.order();
    const store = postgresStore(
      { transaction: () => Promise.resolve() },
      { query: async (_, sql) => (await shop.admin.query<object>(sql)).rows },
    );
    const run = () => store.run(reference, () => Promise.resolve(), { signal: neverAborted });
    expect(await failure(run())).toMatchObject({ message: expect.stringContaining('ended without a commit') as string });
    await shop.admin.query("INSERT INTO paylink_marks (key) VALUES (decode($1, 'hex'))", [digestOf(reference)]);
    expect(await failure(run())).toMatchObject({ message: expect.stringContaining('ended without a commit') as string });
  });

  it('warns once of a handler that does not use `tx`, and of none that does', async () => {
    const warn = vi.fn();
    const store = postgresStore(database(), { logger: { warn } });
    const run = async (work: (tx: never) => Promise<void>) =>
      store.run(await shop.order(), ({ tx }) => work(tx), { signal: neverAborted });
    const reference = await shop.order();
    await run((tx) => credit(tx, reference));
    expect(warn).not.toHaveBeenCalled();
    await run(() => Promise.resolve());
    await run(() => Promise.resolve());
    expect(warn.mock.calls).toEqual([[expect.stringContaining('without using `tx`, so what it wrote is not in the transaction')]]);
  });

  it('refuses and logs a statement of a handler that has returned (G03)', async () => {
    const warn = vi.fn();
    const store = postgresStore(database(), { logger: { warn } });
    const reference = await shop.order();
    let late!: { query: Query };
    const work = ({ tx }: { readonly tx: unknown }) => credit((late = tx as never), reference);
    expect(await store.run(reference, work, { signal: neverAborted })).toBe('done');
    expect(() => late.query('SELECT 1')).toThrow('the transaction is over');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('after its handler had returned'));
  });

  it.each<[string, (query: Query) => object]>([
    ['has no method for SQL', () => ({ insertInto: () => undefined })],
    ['gives no rows', () => ({ query: () => Promise.resolve({ affected: 0 }) })],
    ['gives nothing', () => ({ query: () => Promise.resolve(undefined) })],
  ])('says that `query` is missing where the transaction %s', async (_, txOf) => {
    const store = postgresStore(database(txOf));
    const error = await failure(store.run('order', () => Promise.resolve(), { signal: neverAborted }));
    expect(error).toMatchObject({
      code: 'misconfigured',
      option: 'query',
      message: expect.stringContaining('query is missing') as string,
    });
  });
});
