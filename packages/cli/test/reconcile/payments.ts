/** A merchant's module, as documented. */
import { createClient } from '@paylink/client';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { Pool } from 'pg';
import { creditOrder } from '../../../../examples/shop/src/credit-order.js';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
const store = postgresStore(pool);

export const payments = createPayments({
  client: createClient({
    baseUrl: process.env['PAYLINK_BASE_URL']!,
    apiKey: process.env['PAYLINK_API_KEY']!,
  }),
  store,
  credit: (payment, { tx }) => creditOrder(tx, payment),
});

export async function unpaidReferences(): Promise<string[]> {
  const { rows } = await pool.query<{ reference: string }>(
    'SELECT reference FROM orders WHERE paid_at IS NULL ORDER BY created_at, reference',
  );
  return rows.map(({ reference }) => reference);
}
