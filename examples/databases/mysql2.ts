import type { Orders } from '@paylink/payments';
import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

interface OrderRow extends RowDataPacket {
  reference: string;
  amount: number | string; // a string beyond 2^53
  currency: string;
  paid_at: Date | null;
}
const uri = process.env['DATABASE_URL'] ?? '';
const pool = createPool({ uri, supportBigNumbers: true });
// Separate connections, so that find sees only committed rows.
const reader = createPool({ uri, supportBigNumbers: true, connectionLimit: 2 });

export const orders: Orders = {
  async find(reference) {
    const sql = 'SELECT * FROM orders WHERE reference = ?';
    const [[order]] = await reader.execute<OrderRow[]>(sql, [reference]);
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const [{ affectedRows }] = await pool.execute<ResultSetHeader>(
      `UPDATE orders SET paid_at = NOW()
        WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
      [reference, amount, currency],
    );
    return affectedRows;
  },
  unpaid: () => references('paid_at IS NULL'),
  paid: () => references('paid_at IS NOT NULL'),
};

async function references(condition: string): Promise<string[]> {
  const lastMonth = `${condition} AND created_at > NOW() - INTERVAL 30 DAY`;
  const select = `SELECT reference FROM orders WHERE ${lastMonth} ORDER BY created_at`;
  return (await reader.query<OrderRow[]>(select))[0].map(({ reference }) => reference);
}

export const close = () => Promise.all([pool.end(), reader.end()]);
