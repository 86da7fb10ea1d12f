import { createPayments, type Orders, type Payments } from '@paylink/payments';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createOrder,
  createTables,
  ENGINES,
  openDatabase,
  ordersOf,
  readBooks,
  readOrder,
  startEngine,
  type Connection,
  type Database,
  type Engine,
} from './engines.js';

const REFERENCE = 'order-1';
const event = { type: 'payment.succeeded', reference: REFERENCE, tenant: null };
const PAY = "UPDATE orders SET paid_at = CURRENT_TIMESTAMP WHERE reference = 'order-1'";
const UNPAID = `${PAY} AND paid_at IS NULL`;

const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => '200',
    (error: unknown) => (error as { code: string }).code,
  );

describe.each(ENGINES)('%s', (name) => {
  let engine: Engine;
  let pool: Database;
  let reader: Database;
  const logger = { warn: vi.fn(), error: vi.fn() };

  beforeAll(async () => {
    engine = await startEngine(name);
    [pool, reader] = [await openDatabase(engine), await openDatabase(engine, 2)];
    await createTables(engine, pool);
  });
  beforeEach(async () => {
    vi.clearAllMocks();
    await pool.run('DELETE FROM orders');
    await pool.run('DELETE FROM ledger');
    await createOrder(pool, REFERENCE);
  });
  afterAll(async () => {
    await Promise.all([pool?.close(), reader?.close()]);
    await engine?.close();
  });

  function open(orders: Partial<Orders> = {}, more: object = {}): Payments {
    const getPayment = vi.fn((reference: string) =>
      Promise.resolve({ reference, status: 'success', amount: 1_000, currency: 'XOF' }),
    );
    const own = { ...ordersOf({ pool, reader }), ...orders };
    return createPayments({ client: { getPayment }, orders: own, logger, ...more });
  }

  const isPaid = async (reference = REFERENCE): Promise<boolean> =>
    (await readOrder(reader, reference, null))!.paid;

  it('a hundred deliveries at once are one credit', { tags: 'H02' }, async () => {
    const payments = open();
    const codes = await Promise.all(
      Array.from({ length: 100 }, () => codeOf(payments.receive(event))),
    );
    expect(new Set(codes)).toEqual(new Set(['200']));
    expect(await readBooks(reader)).toEqual({ orders: 1, paid: 1, wrong: [] });
  });

  it('two instances with their own pools credit once', { tags: 'I09' }, async () => {
    const [one, two] = [open(), open()];
    const codes = await Promise.all(
      [one, two, one, two].map((each) => codeOf(each.receive({ ...event }))),
    );
    expect(codes).toEqual(['200', '200', '200', '200']);
    expect((await readBooks(reader)).wrong).toEqual([]);
  });

  it.each<[string, Orders['credit']]>([
    ['forgets await', () => void pool.run(`${UNPAID} AND 1 = 0`) as never],
    ['writes to another table', async () => (await pool.run('DELETE FROM ledger')).count],
    ['never writes, and returns 1', () => 1],
    ['does not match', async () => (await pool.run(`${UNPAID} AND currency = 'EUR'`)).count],
  ])('is never acknowledged if credit %s', { tags: ['P01', 'P02'] }, async (_, credit) => {
    const payments = open({ credit });
    for (let tries = 0; tries < 3; tries++) {
      expect(await codeOf(payments.receive(event))).toBe('not_credited');
    }
    expect(await codeOf(open().receive(event))).toBe('200');
    expect((await readBooks(reader)).wrong).toEqual([]);
  });

  it(
    'is not acknowledged while a trigger swallows the write, and credited once without it',
    { tags: 'P02' },
    async () => {
      const create = {
        PostgreSQL: [
          "CREATE FUNCTION swallow() RETURNS trigger AS 'BEGIN RETURN NULL; END' LANGUAGE plpgsql",
          'CREATE TRIGGER swallow BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION swallow()',
        ],
        MariaDB: [
          'CREATE TRIGGER swallow BEFORE UPDATE ON orders FOR EACH ROW SET NEW.paid_at = NULL',
        ],
        SQLite: ['CREATE TRIGGER swallow BEFORE UPDATE ON orders BEGIN SELECT RAISE(IGNORE); END'],
      }[name];
      for (const sql of create) await pool.run(sql);
      const credit = async (): Promise<number> => (await pool.run(UNPAID)).count;
      expect(await codeOf(open({ credit }).receive(event))).toBe('not_credited');
      await pool.run(`DROP TRIGGER swallow${name === 'PostgreSQL' ? ' ON orders' : ''}`);
      expect(await codeOf(open().receive(event))).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
    },
  );

  describe('credit forgets COMMIT', { tags: 'P21' }, () => {
    let connection: Connection;
    const credit = async (): Promise<number> => {
      connection = await pool.connect();
      await connection.run('BEGIN');
      return (await connection.run(UNPAID)).count;
    };

    it('is 503 while find reads on connections of its own, and 200 once it is committed', async () => {
      const payments = open({ credit });
      expect(await codeOf(payments.receive(event))).toBe('not_credited');
      expect(await isPaid()).toBe(false);
      await connection.run('COMMIT');
      connection.release();
      expect(await codeOf(payments.receive(event))).toBe('200');
    });

    it('credits at the next delivery after the transaction was rolled back', async () => {
      expect(await codeOf(open({ credit }).receive(event))).toBe('not_credited');
      await connection.run('ROLLBACK');
      connection.release();
      expect(await codeOf(open().receive(event))).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
    });
  });

  it(
    'credit in two transactions, the second of which fails, is one credit',
    { tags: 'P03' },
    async () => {
      const orders = ordersOf({ pool, reader });
      const credit: Orders['credit'] = async (...call) => {
        await orders.credit(...call);
        const session = await pool.connect();
        await session.run('BEGIN');
        await session.run('ROLLBACK');
        session.release();
        throw new Error('the receipt could not be written');
      };
      const payments = open({ credit });
      for (let tries = 0; tries < 3; tries++)
        expect(await codeOf(payments.receive(event))).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
      expect(logger.error.mock.calls[0]![0]).toContain('the receipt could not be written');
    },
  );

  it(
    'an answer that is lost after COMMIT is found paid',
    { tags: ['P04', 'I07', 'G09'] },
    async () => {
      const orders = ordersOf({ pool, reader });
      const credit: Orders['credit'] = async (...call) => {
        await orders.credit(...call);
        throw new Error('Connection terminated unexpectedly');
      };
      expect(await codeOf(open({ credit }).receive(event))).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
    },
  );

  it(
    'a replica that lags is 503 until it does not, and never a second credit',
    { tags: ['P06', 'P31'] },
    async () => {
      let isLagging = true;
      const find: Orders['find'] = async (reference, { tenant }) => {
        const order = await readOrder(reader, reference, tenant);
        return order && { ...order, paid: order.paid && !isLagging };
      };
      const payments = open({ find });
      for (let tries = 0; tries < 3; tries++) {
        expect(await codeOf(payments.receive(event))).toBe('not_credited');
      }
      isLagging = false;
      expect(await codeOf(payments.receive(event))).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
    },
  );

  it(
    'an operator marked the order, a refund came, and nothing is credited again',
    { tags: 'P12' },
    async () => {
      await pool.run(PAY);
      await pool.run(
        "UPDATE orders SET refunded_at = CURRENT_TIMESTAMP WHERE reference = 'order-1'",
      );
      const payments = open();
      expect(await codeOf(payments.receive(event))).toBe('200');
      expect((await payments.reconcile([REFERENCE])).paid.count).toBe(1);
      expect((await reader.run('SELECT * FROM ledger')).rows).toEqual([]);
    },
  );

  it(
    'a restored database is credited again by reconcile, once',
    { tags: ['P12', 'O18'] },
    async () => {
      const payments = open();
      expect((await payments.reconcile()).credited.count).toBe(1);
      await pool.run('UPDATE orders SET paid_at = NULL');
      await pool.run('DELETE FROM ledger');
      expect((await payments.reconcile()).credited.count).toBe(1);
      expect((await payments.reconcile()).total).toBe(0);
      expect((await readBooks(reader)).wrong).toEqual([]);
    },
  );

  it(
    'a page inside the shop\u2019s own transaction does not answer for a webhook',
    { tags: 'P26' },
    async () => {
      // SQLite locks the whole database for a writer, and its driver then blocks this process.
      if (name === 'SQLite') return;
      const shop = await pool.connect();
      await shop.run('BEGIN');
      const inside = {
        find: (reference: string) => readOrder(shop, reference, null),
        credit: async () => (await shop.run(UNPAID)).count,
      };
      const calls: Orders[] = [inside, ordersOf({ pool, reader })];
      let orders = calls[0]!;
      const payments = open({
        find: (...call) => orders.find(...call),
        credit: (...call) => orders.credit(...call),
      });
      expect((await payments.settle(REFERENCE)).status).toBe('paid');
      orders = calls[1]!;
      const receiving = codeOf(payments.receive(event));
      await shop.run('ROLLBACK');
      shop.release();
      expect(await receiving).toBe('200');
      expect((await readBooks(reader)).wrong).toEqual([]);
    },
  );

  it('a column that ignores case and blanks pays no other order', { tags: 'P27' }, async () => {
    const type = {
      PostgreSQL: 'char(12)',
      MariaDB: 'varchar(64) COLLATE utf8mb4_general_ci',
      SQLite: 'text COLLATE NOCASE',
    }[name];
    await pool.run(`CREATE TABLE loose (reference ${type}, amount integer, paid_at integer)`);
    await pool.run("INSERT INTO loose VALUES ('ORD-1', 1000, NULL)");
    const find: Orders['find'] = async (reference) => {
      const { rows } = await reader.run('SELECT * FROM loose WHERE reference = ?', [reference]);
      const [row] = rows as { reference: string; paid_at: unknown }[];
      return (
        row && {
          reference: row.reference,
          amount: 1_000,
          currency: 'XOF',
          paid: row.paid_at !== null,
        }
      );
    };
    const credit: Orders['credit'] = async ({ reference }) =>
      (await pool.run('UPDATE loose SET paid_at = 1 WHERE reference = ?', [reference])).count;
    const payments = open({ find, credit });
    for (const reference of ['ord-1', 'ORD-1 ', '\u00d6RD-1']) {
      expect(await codeOf(payments.receive({ ...event, reference }))).toBe('unknown_order');
    }
    expect((await reader.run('SELECT paid_at FROM loose')).rows[0]!['paid_at']).toBeNull();
    await pool.run('DROP TABLE loose');
  });

  it(
    'two orders of one reference are refused by the table, or logged',
    { tags: 'P28' },
    async () => {
      await expect(createOrder(pool, REFERENCE)).rejects.toThrow();
      await createOrder(pool, REFERENCE, { tenant: 'twin' });
      const credit = async (): Promise<number> => (await pool.run(UNPAID)).count;
      expect(await codeOf(open({ credit }).receive(event))).toBe('200');
      expect(logger.error.mock.calls[0]![0]).toMatch(/changed 2 rows.*unique index/);
    },
  );

  it('a payment of a closed order is 409, and listed by reconcile', { tags: 'P33' }, async () => {
    await pool.run('UPDATE orders SET closed = true');
    const payments = open();
    expect(await codeOf(payments.receive(event))).toBe('order_closed');
    expect((await payments.settle(REFERENCE)).status).toBe('closed');
    expect((await payments.reconcile()).undecided.outcomes).toEqual({ order_closed: 1 });
    expect(await isPaid()).toBe(false);
  });

  it('an order that is locked for long leaves the others alone', { tags: 'P34' }, async () => {
    // SQLite has no row locks: a locked database is an error, and the next delivery credits.
    if (name === 'SQLite') return;
    for (let index = 2; index < 20; index++) await createOrder(pool, `order-${index}`);
    const other = await openDatabase(engine, 1);
    const holder = await other.connect();
    await holder.run('BEGIN');
    await holder.run("SELECT * FROM orders WHERE tenant = '' AND reference = 'order-1' FOR UPDATE");
    // On one pool. A busy machine may need more than 300 ms for the others.
    const [payments, patient] = [open({}, { timeout: 300 }), open()];
    const locked = Promise.all(Array.from({ length: 4 }, () => codeOf(payments.receive(event))));
    const others = Array.from({ length: 18 }, (_, index) =>
      codeOf(patient.receive({ ...event, reference: `order-${index + 2}` })),
    );
    const codes = await Promise.all(others);
    const late = [...(await locked), await codeOf(payments.receive(event))];
    await holder.run('COMMIT');
    holder.release();
    await other.close();
    expect(new Set(codes)).toEqual(new Set(['200']));
    // A busy machine may need the whole time for the question before the credit.
    const timeouts = ['handler_timeout', 'confirm_unavailable'];
    expect(late.filter((code) => !timeouts.includes(code))).toEqual([]);
    expect(await codeOf(open().receive(event))).toBe('200');
    await vi.waitFor(async () => expect((await readBooks(reader)).wrong).toEqual([]));
  });

  it('a second payment of one reference changes nothing', { tags: ['H06', 'H04'] }, async () => {
    const payments = open();
    await payments.receive(event);
    await payments.receive({ ...event });
    expect(await readBooks(reader)).toEqual({ orders: 1, paid: 1, wrong: [] });
  });

  it('an order that appears later is 503 until then', { tags: ['H07', 'H09', 'H10'] }, async () => {
    const payments = open();
    const late = { ...event, reference: 'order-2' };
    expect(await codeOf(payments.receive(late))).toBe('unknown_order');
    await createOrder(pool, 'order-2');
    expect(await codeOf(payments.receive(late))).toBe('200');
    expect(await isPaid('order-2')).toBe(true);
  });

  it('thirty orders at once on a pool of four are all credited', { tags: 'N11' }, async () => {
    for (let index = 2; index < 31; index++) await createOrder(pool, `order-${index}`);
    const payments = open();
    const codes = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        codeOf(payments.receive({ ...event, reference: `order-${index + 1}` })),
      ),
    );
    expect(new Set(codes)).toEqual(new Set(['200']));
    expect(await readBooks(reader)).toEqual({ orders: 30, paid: 30, wrong: [] });
  });
});
