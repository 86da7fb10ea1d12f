/** A merchant's module on MariaDB. The variable DESIGN names its credit. */
import type { Order } from '@paylink/payments';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';

type Credit = (reference: string) => Promise<number>;
type On = Pool | PoolConnection;

const design = process.env['DESIGN'] ?? 'one write';
const isOnePool = design.includes('a pool of 1');
const uri = process.env['DATABASE_URL']!;
const pool = createPool({ uri, connectionLimit: isOnePool ? 1 : 10 });
const reader = isOnePool ? pool : createPool({ uri, connectionLimit: 2 });

const write = async (sql: string, reference: string, on: On = pool) =>
  (await on.execute<ResultSetHeader>(sql, [reference]))[0].affectedRows;
const isPaid = async (reference: string, on: On = pool, lock = '') => {
  const sql = `SELECT paid_at FROM orders WHERE reference = ? ${lock}`;
  return (await on.query<RowDataPacket[]>(sql, [reference]))[0][0]!['paid_at'] !== null;
};

const PAY = 'UPDATE orders SET paid_at = NOW() WHERE reference = ?';
const PAY_UNPAID = `${PAY} AND paid_at IS NULL`;
const RECEIPT = 'INSERT INTO receipts (reference) VALUES (?)';
const busy = new Set<string>();

async function transaction(work: (on: PoolConnection) => Promise<number>): Promise<number> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const changed = await work(connection);
    await connection.commit();
    connection.release();
    return changed;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

const readThenWrite = async (reference: string, on: On, lock = '') => {
  if (await isPaid(reference, on, lock)) return 0;
  await write(PAY, reference, on);
  return write(RECEIPT, reference, on);
};

const credits: Record<string, Credit> = {
  'one write': (reference) => write(PAY_UNPAID, reference),
  'one write and a receipt, in a transaction': (reference) =>
    transaction(async (on) => {
      const changed = await write(PAY_UNPAID, reference, on);
      if (changed > 0) await write(RECEIPT, reference, on);
      return changed;
    }),
  'a read FOR UPDATE, then a write': (reference) =>
    transaction((on) => readThenWrite(reference, on, 'FOR UPDATE')),
  'a read, then a write': (reference) => readThenWrite(reference, pool),
  'a read, then a write, in a transaction': (reference) =>
    transaction((on) => readThenWrite(reference, on)),
  'a read, then a write, on a pool of 1': async (reference) =>
    (await isPaid(reference)) ? 0 : write(PAY, reference),
  'a lock in memory': async (reference) => {
    if (busy.has(reference)) return 0;
    busy.add(reference);
    const changed = (await isPaid(reference)) ? 0 : await write(PAY, reference);
    busy.delete(reference);
    return changed;
  },
  'a receipt before the write': async (reference) => {
    await write(RECEIPT, reference);
    return write(PAY_UNPAID, reference);
  },
  'a receipt after the commit': async (reference) => {
    const changed = await write(PAY_UNPAID, reference);
    if (changed > 0) await write(RECEIPT, reference);
    return changed;
  },
  'a receipt in a second transaction': (reference) =>
    transaction(async (on) => {
      const changed = await write(PAY_UNPAID, reference, on);
      if (changed > 0) await write(RECEIPT, reference);
      return changed;
    }),
};

export const orders = {
  async find(reference: string) {
    const sql = 'SELECT reference, amount, currency, paid_at FROM orders WHERE reference = ?';
    const [row] = (await reader.execute<RowDataPacket[]>(sql, [reference]))[0];
    return row && ({ ...row, paid: row['paid_at'] !== null } as unknown as Order);
  },
  credit: ({ reference }: { readonly reference: string }) => credits[design]!(reference),
};

export const createOrder = (order: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES (?, ?, ?)', [
    order.reference,
    order.amount,
    order.currency,
  ]);

export const effects = /receipt|read, then a write(?!, on)|read FOR/i.test(design)
  ? async (reference: string) => {
      const sql = 'SELECT 1 FROM receipts WHERE reference = ?';
      return (await reader.query<RowDataPacket[]>(sql, [reference]))[0].length;
    }
  : undefined;

export const close = () => Promise.all([pool.end(), reader.end()]);
