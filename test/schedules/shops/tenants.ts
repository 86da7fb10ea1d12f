/** The recipe of several merchants, and a function that stores an order of one. */
import { Client } from 'pg';

export { close, orders } from '../../../examples/databases/pg-tenants.js';

export async function createOrder({
  reference,
  amount,
  currency,
  tenant,
}: {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly tenant: string | null;
}): Promise<void> {
  const client = new Client(process.env['DATABASE_URL']);
  await client.connect();
  const sql =
    'INSERT INTO tenant_orders (merchant, reference, amount, currency) VALUES ($1, $2, $3, $4)';
  await client.query(sql, [tenant, reference, amount, currency]);
  await client.end();
}
