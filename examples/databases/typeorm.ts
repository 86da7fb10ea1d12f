import type { Orders } from '@paylink/payments';
import { Column, DataSource, Entity, IsNull, MoreThan, Not, PrimaryColumn } from 'typeorm';

@Entity('orders')
export class OrderRow {
  @PrimaryColumn('text') reference!: string;
  @Column('bigint') amount!: string; // pg reads a bigint as text
  @Column('text') currency!: string;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
}
const url = process.env['DATABASE_URL'] ?? '';
const open = (poolSize: number) =>
  new DataSource({ type: 'postgres', url, poolSize, entities: [OrderRow] }).initialize();
export const db = await open(10);
// A separate pool, so that find sees only committed rows.
const reader = await open(2);
const table = db.getRepository(OrderRow);

export const orders: Orders = {
  async find(reference) {
    const order = await reader.manager.findOneBy(OrderRow, { reference });
    return order && Object.assign(order, { paid: order.paidAt !== null });
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paidAt: IsNull() };
    const { affected } = await table.update(isDue, { paidAt: () => 'now()' });
    return affected ?? null;
  },
  unpaid: () => references(IsNull()),
  paid: () => references(Not(IsNull())),
};

async function references(paidAt: ReturnType<typeof IsNull>): Promise<string[]> {
  const createdAt = MoreThan(new Date(Date.now() - 30 * 86_400_000));
  const query = { where: { paidAt, createdAt }, order: { createdAt: 'ASC' } } as const;
  return (await reader.manager.find(OrderRow, query)).map(({ reference }) => reference);
}

export const close = () => Promise.all([db.destroy(), reader.destroy()]);
