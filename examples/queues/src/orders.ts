import { createPayments, type PaymentClient, type Payments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import type { Pool, PoolClient } from 'pg';
import { creditOrder } from '../../shop/src/credit-order.js';

interface Payment {
  readonly reference: string;
  readonly status: string;
  readonly amount?: number;
  readonly currency?: string;
}

/** A client of the service, which says whether and how much was paid. */
export type Client = PaymentClient<Payment>;

export type Credit = (
  payment: Payment,
  context: { readonly tx: Pick<PoolClient, 'query'> },
) => Promise<number | 'already_credited'>;

/** The credit of a shop without a queue would be the same. Counts the credits of each order. */
export const creditAndCount: Credit = async (payment, { tx }) => {
  const credited = await creditOrder(tx, payment);
  if (credited === 'already_credited') return credited;
  const sql = 'UPDATE orders SET credits = credits + 1 WHERE reference = $1';
  await tx.query(sql, [payment.reference]);
  return credited;
};

export interface WorkerSettings {
  readonly pool: Pool;
  readonly client: Client;
  readonly credit?: Credit;
}

/** Makes the payments that every worker gives its jobs to. An unknown order fails the job. */
export function createWorkerPayments(settings: WorkerSettings): Payments {
  const { pool, client, credit = creditAndCount } = settings;
  return createPayments({ client, store: postgresStore(pool), credit });
}

export async function createOrders(pool: Pool): Promise<void> {
  await pool.query(
    `CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, amount int NOT NULL,
     currency text NOT NULL DEFAULT 'XOF', paid_at timestamptz, credits int NOT NULL DEFAULT 0)`,
  );
}
