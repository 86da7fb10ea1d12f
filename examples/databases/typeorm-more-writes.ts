import type { Orders } from '@paylink/payments';
import { IsNull } from 'typeorm';
import { db, OrderRow, orders as plain } from './typeorm.js';

export const orders: Orders = {
  ...plain,
  credit: ({ reference, amount, currency }) =>
    db.transaction(async (manager) => {
      const isDue = { reference, amount: String(amount), currency, paidAt: IsNull() };
      const { affected } = await manager.update(OrderRow, isDue, { paidAt: () => 'now()' });
      if (affected !== 1) return 0;
      await manager.query(
        `INSERT INTO wallets SELECT wallet, amount FROM orders WHERE reference = $1
          ON CONFLICT (id) DO UPDATE SET balance = wallets.balance + excluded.balance`,
        [reference],
      );
      await manager.query("INSERT INTO outbox VALUES ('receipt', $1)", [reference]);
      return affected;
    }),
};

export { close } from './typeorm.js';
