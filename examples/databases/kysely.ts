import type { Orders } from '@paylink/payments';
import { Kysely, PostgresDialect, sql, type Generated } from 'kysely';
import { Pool } from 'pg';

type OrderTable = Record<'reference' | 'amount' | 'currency', string> & {
  created_at: Generated<Date>;
  paid_at: Date | null;
};
function open(max: number) {
  const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max });
  pool.on('error', console.error); // or a lost connection ends the process
  return new Kysely<{ orders: OrderTable }>({ dialect: new PostgresDialect({ pool }) });
}
export const db = open(10);
const reader = open(2); // separate, so that find sees only committed rows

export const orders: Orders = {
  async find(reference) {
    const all = reader.selectFrom('orders').selectAll().where('reference', '=', reference);
    const order = await all.executeTakeFirst();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const isOrder = { reference, amount: String(amount), currency };
    const update = db.updateTable('orders').where((column) => column.and(isOrder));
    const isDue = update.where('paid_at', 'is', null).set({ paid_at: sql`now()` });
    return (await isDue.executeTakeFirst()).numUpdatedRows;
  },
  unpaid: () => references('is'),
  paid: () => references('is not'),
};

async function references(not: 'is' | 'is not'): Promise<string[]> {
  const rows = reader.selectFrom('orders').where('paid_at', not, null).orderBy('created_at');
  const lastMonth = rows.where('created_at', '>', sql<Date>`now() - interval '30 days'`);
  return (await lastMonth.select('reference').execute()).map(({ reference }) => reference);
}

export const close = () => Promise.all([db.destroy(), reader.destroy()]);
