import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import type { FailedDelivery, Inbox, KeptDelivery } from '@paylink/payments';
import { migrationSql, postgresStore } from '@paylink/postgres';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { credit, keyOf, receiverOn, runOf, Shop, silent as logger } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
  await postgresStore(shop.admin, { inbox: true }).migrate();
}, 120_000);
beforeEach(() => shop.admin.query('TRUNCATE paylink_marks_inbox'));
afterEach(() => shop.rest());
afterAll(() => shop.close());

const options = { inbox: true, logger } as const;
const open = (pool: Pool = shop.pool()) => {
  const store = postgresStore(pool, options);
  return { pool, store, inbox: store.inbox! };
};

const WAITING =
  "SELECT FROM pg_locks WHERE NOT granted AND relation = 'paylink_marks_inbox'::regclass";

const BODY = Buffer.from('{"reference":"…","secret-in-the-body":true}\0\xff', 'latin1');

function failed(reference: string, more: Partial<FailedDelivery> = {}): FailedDelivery {
  const kind = 'payment.succeeded';
  const key = keyOf(reference);
  return { key, kind, reference, tenant: undefined, rawBody: BODY, code: 'no', ...more };
}

async function all(inbox: Inbox, limit: number): Promise<readonly KeptDelivery[]> {
  const pages: KeptDelivery[] = [];
  for (let page = await inbox.list({ limit }); page.length > 0;) {
    pages.push(...page);
    page = await inbox.list({ limit, after: page.at(-1) });
  }
  return pages;
}

describe('a failed delivery', () => {
  it('stays in the inbox after the rollback, and leaves the list when a later one succeeds', async () => {
    const { store, inbox } = open();
    const reference = await shop.order();
    const deliver = receiverOn(store, async (tx) => {
      await credit(tx, reference);
      throw new Error('broken');
    });
    expect(await deliver(reference)).toBe(500);
    await vi.waitFor(async () => expect(await inbox.list()).toHaveLength(1));
    const [kept] = await inbox.list();
    expect(kept).toEqual({
      key: keyOf(reference),
      kind: 'payment.succeeded',
      reference,
      tenant: undefined,
      code: 'handler_failed',
      attempts: 1,
      size: Buffer.byteLength(JSON.stringify({ reference })),
      firstFailedAt: expect.any(Date) as Date,
      lastFailedAt: expect.any(Date) as Date,
    });
    expect(Math.abs(kept!.firstFailedAt.getTime() - Date.now())).toBeLessThan(60_000);
    const found = await inbox.get(keyOf(reference));
    expect(Buffer.from(found!.rawBody).toString()).toBe(JSON.stringify({ reference }));

    expect(await receiverOn(store, credit)(reference)).toBe(200);
    expect([await inbox.list(), await inbox.get(keyOf(reference))]).toEqual([[], undefined]);
    expect(await shop.creditsOf(reference)).toBe(1);
  });

  it('is listed in the order of the failures, also if one statement writes several', async () => {
    const { inbox } = open();
    const references = Array.from({ length: 8 }, (_, index) => `in-turn-${index}`);
    const kept: Promise<void>[] = [];
    for (const reference of references) {
      kept.push(inbox.keep(failed(reference)));
      const until = performance.now() + 3;
      while (performance.now() < until); // No turn of the event loop: all wait for one statement.
    }
    await Promise.all(kept);
    expect((await all(inbox, 3)).map(({ reference }) => reference)).toEqual(references);
  });

  it('costs a successful delivery no extra statement', async () => {
    const { pool, proxy } = await shop.faultyPool({ max: 2 });
    const statementsWith = async (inbox: boolean): Promise<readonly string[]> => {
      const deliver = receiverOn(postgresStore(pool, { inbox, logger }), credit);
      await deliver(await shop.order());
      proxy.statements.length = 0;
      await deliver(await shop.order());
      return proxy.statements.map((sql) => sql.slice(0, 60));
    };
    expect(await statementsWith(true)).toEqual(await statementsWith(false));
  });

  it('takes one row with a rising counter in a flood, on one connection', async () => {
    const { pool, proxy } = await shop.faultyPool({ max: 5 });
    const { inbox } = open(pool);
    await inbox.keep(failed('warm-up'));
    proxy.statements.length = 0;
    const flood = Array.from({ length: 1_000 }, (_, time) => failed('one', { code: `c${time}` }));
    await Promise.all(flood.map((delivery) => inbox.keep(delivery)));
    await inbox.keep(failed('one', { code: 'last' }));
    expect(proxy.statements.length).toBeLessThan(5);
    expect(pool.totalCount).toBe(1);
    expect(await inbox.get(keyOf('one'))).toMatchObject({ attempts: 1_001, code: 'last' });
  });

  it('is rejected if 500 others wait for a database that is too slow', async () => {
    const { inbox } = open();
    const holder = await shop.admin.connect();
    await holder.query('BEGIN; LOCK TABLE paylink_marks_inbox');
    const first = inbox.keep(failed('the first'));
    await vi.waitFor(async () => expect((await shop.admin.query(WAITING)).rowCount).toBe(1));
    const waiting = Array.from({ length: 500 }, (_, number) => inbox.keep(failed(`${number}`)));
    await expect(inbox.keep(failed('another'))).rejects.toThrow(
      'too many failed deliveries are waiting',
    );
    waiting.push(first, inbox.keep(failed('499')));
    await holder.query('COMMIT');
    holder.release();
    await Promise.all(waiting);
    expect(await all(inbox, 100)).toHaveLength(501);
    expect(await inbox.get(keyOf('499'))).toMatchObject({ attempts: 2 });
  });

  it('waits for a connection with one body at a time, so that a long fault fills no memory', async () => {
    const { pool, store, inbox } = open(shop.pool({ max: 1 }));
    await store.migrate();
    await inbox.keep(failed('before'));
    const held = await pool.connect();
    const send = vi.spyOn(pool, 'query');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (let time = 0; time < 5; time += 1) {
      const keeping = inbox.keep(failed(`${time}`)).catch(String);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await keeping).toContain('the pool is exhausted');
    }
    vi.useRealTimers();
    const texts = send.mock.calls.map(([query]) => (query as unknown as { text: string }).text);
    expect(texts.filter((text) => text.startsWith('INSERT'))).toHaveLength(1);
    held.release();
    await inbox.keep(failed('after'));
    expect(await inbox.get(keyOf('after'))).toMatchObject({ attempts: 1 });
  });

  it('does not stop others if PostgreSQL cannot store it', async () => {
    const { inbox } = open();
    const [good, bad] = [failed('good'), failed('bad', { tenant: 'a\0b' })];
    const results = await Promise.allSettled([inbox.keep(bad), inbox.keep(good)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(String((results[0] as PromiseRejectedResult).reason)).toContain('a text with NUL');
  });

  it('does not stop others if the encoding of the database cannot represent it', async () => {
    const latin = `latin_${randomUUID().replaceAll('-', '')}`;
    const encoding = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    await shop.admin.query(`CREATE DATABASE ${latin} ${encoding}`);
    const url = new URL(shop.admin.options.connectionString!);
    url.pathname = `/${latin}`;
    const pool = new Pool({ connectionString: url.href });
    const store = postgresStore(pool, options);
    await store.migrate();
    const references = ['a', 'b', '😀', 'c'];
    const kept = await Promise.allSettled(
      references.map((each) => store.inbox!.keep(failed(each))),
    );
    const statuses = kept.map(({ status }) => status);
    expect(statuses).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await store.inbox!.list()).toHaveLength(3);
    await pool.end();
  });

  it('is stored although another session writes the same row, if all transactions are serializable', async () => {
    const serializable = { options: '-c default_transaction_isolation=serializable' };
    const inboxes = [open(shop.pool(serializable)).inbox, open(shop.pool(serializable)).inbox];
    const times = Array.from({ length: 20 }, (_, time) => time);
    for (const time of times) {
      await Promise.all(inboxes.map((inbox) => inbox.keep(failed(`${time % 2}`))));
    }
    expect((await inboxes[0]!.list()).map(({ attempts }) => attempts)).toEqual([20, 20]);
  });

  it('leaves the inbox on discard', async () => {
    const { inbox } = open();
    await inbox.keep(failed('one'));
    await inbox.keep(failed('two'));
    await inbox.discard(keyOf('one'));
    expect((await inbox.list()).map(({ reference }) => reference)).toEqual(['two']);
  });
});

describe('the list', () => {
  it('contains each delivery once, the oldest first, in pages of any length', async () => {
    const { inbox } = open();
    const references = Array.from({ length: 25 }, (_, number) => `order-${number}`);
    // At one moment, so that the key decides; and one more that is older.
    await Promise.all(references.map((reference) => inbox.keep(failed(reference))));
    const age = "UPDATE paylink_marks_inbox SET first_failed_at = now() - interval '1 day'";
    await shop.admin.query(`${age} WHERE reference = 'order-7'`);
    for (const limit of [1, 7, 25, 26]) {
      const listed = (await all(inbox, limit)).map(({ reference }) => reference);
      expect(listed[0]).toBe('order-7');
      expect([...listed].sort()).toEqual([...references].sort());
    }
  });

  it.each([
    ['limit', { limit: 0 }],
    ['after', { after: 'order-1' }],
    ['page', { page: 2 }],
  ])('rejects an invalid %s', async (option, wrong) => {
    await expect(open().inbox.list(wrong as object)).rejects.toMatchObject({ option });
  });

  it('returns every text and byte unchanged', async () => {
    const { inbox } = open();
    const reference = `it's \\ "quoted" \u2028 é 🧺`;
    const delivery = failed(reference, { tenant: "o'brien", kind: 'payment.refunded' });
    await inbox.keep(delivery);
    const found = await inbox.get(delivery.key);
    expect(found).toMatchObject({ reference, tenant: "o'brien", kind: 'payment.refunded' });
    expect(Buffer.from(found!.rawBody)).toEqual(BODY);
    expect(found!.size).toBe(BODY.length);
  });
});

describe('forget', () => {
  it('deletes deliveries of the inbox whose last failure is older than a date', async () => {
    const { inbox } = open();
    for (const reference of ['old', 'new']) await inbox.keep(failed(reference));
    const age = "UPDATE paylink_marks_inbox SET last_failed_at = now() - interval '40 days'";
    await shop.admin.query(`${age} WHERE reference = 'old'`);
    expect(await inbox.forget({ olderThan: new Date(Date.now() - 30 * 86_400_000) })).toBe(1);
    expect((await inbox.list()).map(({ reference }) => reference)).toEqual(['new']);
    const future = inbox.forget({ olderThan: new Date(Date.now() + 60_000) });
    await expect(future).rejects.toThrow('olderThan');
  });

  it('does not list a handled delivery again after it deleted marks', async () => {
    const { store, inbox } = open();
    const reference = await shop.order();
    await inbox.keep(failed(reference));
    await inbox.keep(failed('another'));
    await store.run(keyOf(reference), () => Promise.resolve(), runOf(reference));
    const age = "UPDATE paylink_marks SET done_at = now() - interval '3 years'";
    await shop.admin.query(`${age} WHERE key = decode('${keyOf(reference)}', 'hex')`);
    expect(await store.forget({ olderThan: new Date(Date.now() - 86_400_000) })).toBe(1);
    expect(await store.isDone(keyOf(reference))).toBe(false);
    expect((await inbox.list()).map((kept) => kept.reference)).toEqual(['another']);
  });
});

describe('the inbox table', () => {
  it('is created beside the marks in any schema, by many at once, and only if it is missing', async () => {
    const role = `inbox_${process.pid}_${Date.now()}`;
    await shop.admin.query(`CREATE SCHEMA first; CREATE SCHEMA second; CREATE ROLE ${role} LOGIN;
      GRANT USAGE, CREATE ON SCHEMA first, second TO ${role}`);
    const connectionString = shop.server.url.replace('postgres@', `${role}@`);
    const pool = shop.pool({ connectionString, options: '-c search_path=first,second' });
    // Without the right to create schemas.
    await pool.query(migrationSql({ table: 'm' }).replace('"m"', 'second."m"'));
    const stores = Array.from({ length: 4 }, () => postgresStore(pool, { ...options, table: 'm' }));
    await Promise.all(stores.map((store) => store.migrate()));
    await stores[0]!.migrate();
    await stores[0]!.inbox!.keep(failed('order-1'));
    const found = await shop.admin.query('SELECT reference FROM second.m_inbox');
    expect(found.rows).toEqual([{ reference: 'order-1' }]);
  });

  it('can be created by the SQL in your own migrations', async () => {
    const table = { schema: 'own', table: 'marks', inbox: true };
    await shop.admin.query(migrationSql(table));
    const { inbox } = postgresStore(shop.admin, { ...table, logger });
    await inbox!.keep(failed('order-1'));
    expect(await inbox!.list()).toHaveLength(1);
    expect(migrationSql({})).not.toContain('inbox');
  });

  it('is reported with the line that creates it if it is missing', async () => {
    const table = { table: 'm2' };
    await postgresStore(shop.admin, { ...table, logger }).migrate();
    const { inbox } = postgresStore(shop.admin, { ...options, ...table });
    for (const use of [() => inbox!.keep(failed('order-1')), () => inbox!.list()]) {
      await expect(use()).rejects.toThrow('call `await store.migrate()`');
    }
  });

  it('does not exist without the option, and neither does the inbox', async () => {
    const store = postgresStore(shop.admin, { table: 'm3', logger });
    await store.migrate();
    const found = await shop.admin.query("SELECT to_regclass('m3_inbox') AS found");
    expect([store.inbox, found.rows]).toEqual([undefined, [{ found: null }]]);
    const wrong = (): unknown => postgresStore(shop.admin, { inbox: 'yes' as never });
    expect(wrong).toThrow('inbox must be true or false');
  });
});

describe('an inbox', () => {
  it('reads times and bytes on Drizzle, and hides the body if a statement fails', async () => {
    const { inbox } = postgresStore(drizzle({ client: shop.pool() }), options);
    await inbox!.keep(failed('order-1'));
    const [kept] = await inbox!.list();
    expect(kept).toMatchObject({ attempts: 1, firstFailedAt: expect.any(Date) as Date });
    expect(Buffer.from((await inbox!.get(kept!.key))!.rawBody)).toEqual(BODY);

    await shop.admin.query('ALTER TABLE paylink_marks_inbox ADD CHECK (attempts < 2)');
    const keeping = inbox!.keep(failed('order-1'));
    const error: unknown = await keeping.catch((reason: unknown) => reason);
    const check = 'paylink_marks_inbox_attempts_check';
    await shop.admin.query(`ALTER TABLE paylink_marks_inbox DROP CONSTRAINT ${check}`);
    const shown = inspect(error, { depth: 9, showHidden: true });
    expect(shown).toContain('the database refused the row (23514)');
    for (const part of [BODY.toString('hex'), 'secret-in-the-body']) {
      expect(shown).not.toContain(part);
    }
  });

  it('stores and lists on PGlite, and unlists a delivery that succeeds', async () => {
    const lite = new PGlite();
    const store = postgresStore(lite, options);
    await store.migrate();
    const deliver = (work: () => number) => receiverOn(store, work)('order-1');
    expect(await deliver(() => 0)).toBe(503);
    await vi.waitFor(async () => expect(await store.inbox!.list()).toHaveLength(1));
    const found = await store.inbox!.get(keyOf('order-1'));
    expect(Buffer.from(found!.rawBody).toString()).toBe('{"reference":"order-1"}');
    expect(await deliver(() => 1)).toBe(200);
    expect(await store.inbox!.list()).toEqual([]);
    await lite.close();
  });
});
