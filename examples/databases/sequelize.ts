import type { Orders } from '@paylink/payments';
import { DataTypes, Op, Sequelize, type Model } from 'sequelize';

interface OrderRow {
  reference: string;
  amount: string; // pg reads a bigint as text
  currency: string;
  paid_at: Date | null;
}
const url = process.env['DATABASE_URL'] ?? '';
export const db = new Sequelize(url, { logging: false });
// A separate pool, so that find sees only committed rows.
const reader = new Sequelize(url, { logging: false, pool: { max: 2 } });
const { BIGINT: amount, DATE: paid_at, TEXT: currency } = DataTypes;
const columns = { reference: { type: currency, primaryKey: true }, amount, currency, paid_at };
const timestamps = { createdAt: 'created_at', updatedAt: false } as const;
const define = (on: Sequelize) => on.define<Model<OrderRow>>('orders', columns, timestamps);
const [table, read, transaction] = [define(db), define(reader), null]; // outside CLS's transaction

export const orders: Orders = {
  async find(reference) {
    const order = (await read.findByPk(reference, { transaction }))?.get();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const where = { reference, amount, currency, paid_at: null };
    return (await table.update({ paid_at: new Date() }, { where, transaction }))[0];
  },
  unpaid: () => references(Op.is),
  paid: () => references(Op.not),
};

async function references(not: typeof Op.is | typeof Op.not): Promise<string[]> {
  const since = new Date(Date.now() - 30 * 86_400_000);
  const where = { paid_at: { [not]: null }, created_at: { [Op.gt]: since } };
  const rows = read.findAll({ where, order: ['created_at'], transaction });
  return (await rows).map((row) => row.get().reference);
}

export const close = () => Promise.all([db.close(), reader.close()]);
