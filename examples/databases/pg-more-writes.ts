import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];
const [pool, reader] = [new Pool({ connectionString }), new Pool({ connectionString, max: 2 })];
const log = ({ message }: Error) => console.error(message);
pool.on('connect', (client) => client.on('error', log)); // or a lost connection ends the process
for (const each of [pool, reader]) each.on('error', log);

export const orders: Orders = {
  async find(reference) {
    const { rows } = await reader.query<Order>(
      'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
      [reference],
    );
    return rows[0];
  },
  async credit({ reference, amount, currency }) {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>(
        'UPDATE orders SET paid_at = now() WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL RETURNING wallet AS id',
        [reference, amount, currency],
      );
      for (const { id } of rows) {
        await client.query('UPDATE wallets SET balance = balance + $1 WHERE id = $2', [amount, id]);
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

export const close = () => Promise.all([pool.end(), reader.end()]);
