import type { Orders } from '@paylink/payments';
import { DataTypes, Op, Sequelize, type Model } from 'sequelize';

interface OrderRow {
  reference: string;
  amount: string; // pg reads a bigint as text
  currency: string;
  paid_at: Date | null;
}
export const db = new Sequelize(process.env['DATABASE_URL'] ?? '', { logging: false });
const columns = {
  reference: { type: DataTypes.TEXT, primaryKey: true },
  amount: DataTypes.BIGINT,
  currency: DataTypes.TEXT,
  paid_at: DataTypes.DATE,
};
const timestamps = { createdAt: 'created_at', updatedAt: false } as const;
const table = db.define<Model<OrderRow>>('orders', columns, timestamps);
// Outside a transaction of your code (CLS), so that find shows only rows that are committed.
const transaction = null;

export const orders: Orders = {
  async find(reference) {
    const order = (await table.findByPk(reference, { transaction }))?.get();
    return order && { ...order, paid: order.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const where = { reference, amount, currency, paid_at: null };
    const [count] = await table.update({ paid_at: new Date() }, { where, transaction });
    return count;
  },
  async unpaid() {
    const since = new Date(Date.now() - 30 * 86_400_000);
    const where = { paid_at: null, created_at: { [Op.gt]: since } };
    const rows = await table.findAll({ where, order: ['created_at'], transaction });
    return rows.map((row) => row.get().reference);
  },
};

export const close = () => db.close();
