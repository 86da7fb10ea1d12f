import type { ConfirmedPayment, HandlerContext, HandlerMap, NoEvents, PaymentSource } from '@paylink/core';
import type { Pool, PoolClient } from 'pg';
import { creditOrder } from '../../shop/src/credit-order.js';

/** What the store adds to a handler's context: the transaction that holds the mark. */
export interface Transaction {
  readonly tx: PoolClient;
}

export interface Payment extends ConfirmedPayment {
  readonly amount?: number;
}

/** A client of the service: it says whether, and how much, was paid. */
export type Confirm = PaymentSource<Payment>;

export type Handlers = HandlerMap<NoEvents, HandlerContext<Payment, Transaction, unknown>>;

/** What both workers run: the same as a webhook without a queue would. An order that is unknown fails the job, which is retried. */
export const handlers: Handlers = {
  'payment.succeeded': async (_event, { tx, payment }) => {
    if (!(await creditOrder(tx, payment))) return;
    await tx.query('UPDATE orders SET credits = credits + 1 WHERE reference = $1', [payment.reference]);
  },
};

export async function createOrders(pool: Pool): Promise<void> {
  await pool.query(
    'CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, amount int NOT NULL, paid_at timestamptz, credits int DEFAULT 0)',
  );
}
