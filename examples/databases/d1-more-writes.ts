import { env } from 'cloudflare:workers';
import type { Orders } from '@paylink/payments';
import { orders as plain } from './d1.js';

const db = env.DB;

export const orders: Orders = {
  ...plain,
  async credit({ reference, amount, currency }) {
    const pay = db.prepare(
      `UPDATE orders SET paid_at = CURRENT_TIMESTAMP
        WHERE reference = ? AND amount = ? AND currency = ? AND paid_at IS NULL`,
    );
    // A batch is one transaction. changes() counts the rows of the statement before, so that each
    // statement writes only if the one before it wrote one row.
    const deposit = db.prepare(
      `INSERT INTO wallets (id, balance) SELECT wallet, amount FROM orders
        WHERE reference = ? AND changes() = 1 ON CONFLICT (id)
        DO UPDATE SET balance = balance + excluded.balance`,
    );
    const receipt = db.prepare("INSERT INTO outbox SELECT 'receipt', ? WHERE changes() = 1");
    const [paid] = await db.batch([
      pay.bind(reference, amount, currency),
      deposit.bind(reference),
      receipt.bind(reference),
    ]);
    return Math.min(paid!.meta.changes, 1); // D1 also counts rows that triggers write
  },
};
