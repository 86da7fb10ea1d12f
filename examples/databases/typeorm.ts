import type { Orders } from '@paylink/payments';
import { Column, DataSource, Entity, IsNull, MoreThan, PrimaryColumn } from 'typeorm';

@Entity('orders')
class OrderRow {
  @PrimaryColumn('text') reference!: string;
  @Column('bigint') amount!: string; // pg reads a bigint as text
  @Column('text') currency!: string;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
}
const url = process.env['DATABASE_URL'] ?? '';
export const db = new DataSource({ type: 'postgres', url, entities: [OrderRow] });
await db.initialize();
const table = db.getRepository(OrderRow);

export const orders: Orders = {
  async find(reference) {
    const order = await table.findOneBy({ reference });
    return order && Object.assign(order, { paid: order.paidAt !== null });
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paidAt: IsNull() };
    const { affected } = await table.update(isDue, { paidAt: () => 'now()' });
    return affected ?? null;
  },
  async unpaid() {
    const since = new Date(Date.now() - 30 * 86_400_000);
    const where = { paidAt: IsNull(), createdAt: MoreThan(since) };
    const rows = await table.find({ where, order: { createdAt: 'ASC' } });
    return rows.map(({ reference }) => reference);
  },
};

export const close = () => db.destroy();
