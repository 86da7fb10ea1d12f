import type { Orders } from '@paylink/payments';
import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import { Pool } from 'pg';

interface OrderTable {
  reference: string;
  amount: string; // pg reads a bigint as text
  currency: string;
  created_at: Generated<Date>;
  paid_at: Date | null;
}
const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
// Without a listener, a lost connection would end the process.
pool.on('error', ({ message }) => console.error(message));
export const db = new Kysely<{ orders: OrderTable }>({ dialect: new PostgresDialect({ pool }) });

export const orders: Orders = {
  async find(reference) {
    const select = db.selectFrom('orders').selectAll().where('reference', '=', reference);
    const order = await select.executeTakeFirst();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const { numUpdatedRows } = await db
      .updateTable('orders')
      .set({ paid_at: sql`now()` })
      .where((column) => column.and({ reference, amount: String(amount), currency }))
      .where('paid_at', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows;
  },
  async unpaid() {
    const unpaid = db.selectFrom('orders').select('reference').where('paid_at', 'is', null);
    const lastMonth = unpaid.where('created_at', '>', sql<Date>`now() - interval '30 days'`);
    const rows = await lastMonth.orderBy('created_at').execute();
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => db.destroy();
