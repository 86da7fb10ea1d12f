import type { Orders } from '@paylink/payments';
import { Column, DataSource, Entity, IsNull, MoreThan, Not, PrimaryColumn } from 'typeorm';

@Entity('orders')
export class OrderRow {
  @PrimaryColumn('varchar') reference!: string;
  @Column('bigint') amount!: string; // TypeORM reads a bigint as text
  @Column('varchar') currency!: string;
  @Column('datetime', { name: 'created_at' }) createdAt!: Date;
  @Column('datetime', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
}
const url = process.env['DATABASE_URL'] ?? '';
const open = (poolSize: number) =>
  new DataSource({ type: 'mysql', url, poolSize, entities: [OrderRow] }).initialize();
export const db = open(10);
// Separate connections, so that find sees only committed rows.
const reader = open(2);

export const orders: Orders = {
  async find(reference) {
    const order = await (await reader).manager.findOneBy(OrderRow, { reference });
    return order && Object.assign(order, { paid: order.paidAt !== null });
  },
  async credit({ reference, amount, currency }) {
    const isDue = { reference, amount: String(amount), currency, paidAt: IsNull() };
    const paidAt = () => 'NOW()';
    return (await (await db).manager.update(OrderRow, isDue, { paidAt })).affected ?? null;
  },
  unpaid: () => references(IsNull()),
  paid: () => references(Not(IsNull())),
};

async function references(paidAt: ReturnType<typeof IsNull>): Promise<string[]> {
  const createdAt = MoreThan(new Date(Date.now() - 30 * 86_400_000));
  const find = { where: { paidAt, createdAt }, order: { createdAt: 'ASC' } } as const;
  const rows = await (await reader).manager.find(OrderRow, find);
  return rows.map(({ reference }) => reference);
}

export const close = async () => Promise.all([(await db).destroy(), (await reader).destroy()]);
