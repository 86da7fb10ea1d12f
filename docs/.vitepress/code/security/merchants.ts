import type { PaylinkClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool();
const reader = new Pool({ max: 4 }); // find never sees a row that unfinished code has not committed

const payments = createPayments({
  client: (tenant) => clientOf(tenant!),
  orders: {
    async find(reference, { tenant }) {
      const { rows } = await reader.query(
        `SELECT reference, amount, currency, paid_at FROM orders
          WHERE merchant = $1 AND reference = $2`,
        [tenant, reference],
      );
      return rows[0] && { ...rows[0], paid: rows[0].paid_at != null };
    },
    async credit({ reference, amount, currency }, { tenant }) {
      const { rowCount } = await pool.query(
        `UPDATE orders SET paid_at = now() WHERE merchant = $1 AND reference = $2
          AND amount = $3 AND currency = $4 AND paid_at IS NULL`,
        [tenant, reference, amount, currency],
      );
      return rowCount;
    },
  },
});

const app = express();
app.post(
  '/webhooks/:merchant',
  async (req, res, next) => {
    if ((await merchantAt(req.params['merchant'])) === undefined) res.sendStatus(404);
    else next();
  },
  paymentWebhook(
    {
      secret: async ({ req }) => {
        const { id, webhookSecret } = (await merchantAt(req.params['merchant']))!;
        return { secret: webhookSecret, tenant: id };
      },
    },
    payments.receive,
  ),
);

interface Merchant {
  readonly id: string;
  readonly webhookSecret: string;
}
declare function merchantAt(name: unknown): Promise<Merchant | undefined>;
declare function clientOf(tenant: string): PaylinkClient;
