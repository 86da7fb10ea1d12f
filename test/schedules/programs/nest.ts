/** Nest on MariaDB by TypeORM. The variable CREDIT names its credit: right or broken. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@paylink/client';
import { PaymentWebhookModule } from '@paylink/nest';
import { createPayments } from '@paylink/payments';
import { db, orders, OrderRow } from '../../../examples/databases/typeorm-mysql.js';

type EntityManager = Awaited<typeof db>['manager'];

const RECEIPT = 'INSERT INTO receipts VALUES (?)';

async function right(manager: EntityManager, reference: string): Promise<number> {
  const { affected } = await manager
    .createQueryBuilder()
    .update(OrderRow)
    .set({ paidAt: () => 'NOW()' })
    .where('reference = :reference AND paid_at IS NULL', { reference })
    .execute();
  if (affected === 1) await manager.query(RECEIPT, [reference]);
  return affected!;
}

/** Writes the receipt after the commit of the order. */
async function broken(manager: EntityManager, reference: string): Promise<number> {
  const order = await manager.findOneByOrFail(OrderRow, { reference });
  if (order.paidAt !== null) return 0;
  await manager.save(Object.assign(order, { paidAt: new Date() }));
  await manager.query(RECEIPT, [reference]);
  return 1;
}

async function credit({ reference }: { readonly reference: string }): Promise<number> {
  if (process.env['CREDIT'] !== 'right') return broken((await db).manager, reference);
  return (await db).transaction((manager) => right(manager, reference));
}

const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL']!,
  apiKey: process.env['PAYLINK_API_KEY']!,
});
const payments = createPayments({ client, orders: { ...orders, credit } });

const webhook = PaymentWebhookModule.forRootAsync({
  useFactory: () => ({
    url: '/webhook',
    secret: process.env['WEBHOOK_SECRET'],
    handlers: { 'payment.succeeded': payments.receive },
  }),
});
const app = await NestFactory.create(webhook, { logger: ['error'] });
await app.listen(Number(process.env['PORT']), '127.0.0.1');
