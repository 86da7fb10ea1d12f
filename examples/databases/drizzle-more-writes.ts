import type { Orders } from '@paylink/payments';
import { sql } from 'drizzle-orm';
import { db, orders as plain } from './drizzle.js';

export const orders: Orders = {
  ...plain,
  credit: ({ reference, amount, currency }) =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ wallet: string }>(sql`
        UPDATE orders SET paid_at = now()
        WHERE reference = ${reference} AND amount = ${amount} AND currency = ${currency}
          AND paid_at IS NULL RETURNING wallet`);
      for (const { wallet } of rows) {
        await tx.execute(sql`
          INSERT INTO wallets VALUES (${wallet}, ${amount})
          ON CONFLICT (id) DO UPDATE SET balance = wallets.balance + excluded.balance`);
        await tx.execute(sql`INSERT INTO outbox VALUES ('receipt', ${reference})`);
      }
      return rows.length;
    }),
};

export { close } from './drizzle.js';
