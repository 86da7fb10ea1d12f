import type { Orders } from '@paylink/payments';
import { Pool } from 'pg';
import { close as closePlain, orders as plain } from './pg.js';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
const log = ({ message }: Error) => console.error(message);
pool.on('error', log);
pool.on('connect', (client) => client.on('error', log)); // or a lost connection ends the process

export const orders: Orders = {
  ...plain,
  async credit({ reference, amount, currency }) {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>(
        `UPDATE orders SET paid_at = now()
          WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL
          RETURNING wallet AS id`,
        [reference, amount, currency],
      );
      for (const { id } of rows) {
        await client.query(
          `INSERT INTO wallets VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET balance = wallets.balance + excluded.balance`,
          [id, amount],
        );
        await client.query("INSERT INTO outbox VALUES ('receipt', $1)", [reference]);
      }
      await client.query('COMMIT');
      client.release();
      return rows.length;
    } catch (error) {
      client.release(true); // closes the connection, which rolls back
      throw error;
    }
  },
};

export const close = () => Promise.all([pool.end(), closePlain()]);
