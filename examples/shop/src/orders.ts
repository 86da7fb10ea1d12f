import { randomUUID } from 'node:crypto';
import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import type { Payment } from '@paylink/client';
import type { PaymentOutcome } from '@paylink/payments';
import { creditOrder } from './credit-order.js';

/** Which way credited: the notification, the return page or the schedule. */
type Source = PaymentOutcome['source'];

export interface Order {
  readonly reference: string;
  readonly product: string;
  readonly amount: number;
  readonly currency: string;
  readonly payUrl: string | null;
  readonly isPaid: boolean;
  /** The order's credits in the shop's book. There must never be two. */
  readonly credits: { readonly count: number; readonly total: number; readonly by: Source | null };
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (
    reference text PRIMARY KEY,
    product text NOT NULL,
    amount integer NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    pay_url text,
    created_at timestamptz NOT NULL DEFAULT now(),
    paid_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS credits (
    reference text PRIMARY KEY REFERENCES orders,
    amount integer NOT NULL,
    credited_by text NOT NULL,
    credited_at timestamptz NOT NULL DEFAULT now()
  );
`;

const FIND = `
  SELECT o.reference, o.product, o.amount, o.currency, o.pay_url,
         o.paid_at IS NOT NULL AS is_paid, count(c.reference)::int AS credit_count,
         coalesce(sum(c.amount), 0)::int AS credit_total, min(c.credited_by) AS credited_by
    FROM orders o LEFT JOIN credits c USING (reference)
   WHERE o.reference = $1 GROUP BY o.reference`;

const BOOK = `
  INSERT INTO credits (reference, amount, credited_by)
  SELECT reference, amount, $2 FROM orders WHERE reference = $1`;

interface OrderRow {
  readonly reference: string;
  readonly product: string;
  readonly amount: number;
  readonly currency: string;
  readonly pay_url: string | null;
  readonly is_paid: boolean;
  readonly credit_count: number;
  readonly credit_total: number;
  readonly credited_by: Source | null;
}

/** The price of a new order. */
export interface Price {
  readonly amount: number;
  readonly currency: string;
}

/** The shop's orders and its book of credits. */
export class Orders {
  readonly #db: PGliteInterface;

  private constructor(db: PGliteInterface) {
    this.#db = db;
  }

  static async open(db: PGliteInterface): Promise<Orders> {
    await db.exec(SCHEMA);
    return new Orders(db);
  }

  /**
   * Inserts an order before its payment link is created. A random reference cannot be guessed, and
   * it does not repeat after a restored backup.
   */
  async create(product: string, { amount, currency }: Price): Promise<string> {
    const reference = randomUUID();
    const sql = 'INSERT INTO orders (reference, product, amount, currency) VALUES ($1, $2, $3, $4)';
    await this.#db.query(sql, [reference, product, amount, currency]);
    return reference;
  }

  async setPayUrl(reference: string, payUrl: string): Promise<void> {
    const sql = 'UPDATE orders SET pay_url = $2 WHERE reference = $1';
    await this.#db.query(sql, [reference, payUrl]);
  }

  async find(reference: string): Promise<Order | undefined> {
    const { rows } = await this.#db.query<OrderRow>(FIND, [reference]);
    const [row] = rows;
    return row && toOrder(row);
  }

  /** Returns the references of uncredited orders. */
  async unpaid(): Promise<string[]> {
    const { rows } = await this.#db.query<{ reference: string }>(
      `SELECT reference FROM orders WHERE paid_at IS NULL AND pay_url IS NOT NULL
        ORDER BY created_at`,
    );
    return rows.map(({ reference }) => reference);
  }
}

/** Credits the order with the recipe, and writes the shop's book in the same transaction. */
export async function bookCredit(
  tx: Pick<Transaction, 'query'>,
  payment: Payment,
  source: Source,
): Promise<number | 'already_credited'> {
  const credited = await creditOrder(tx, payment);
  if (credited !== 'already_credited') await tx.query(BOOK, [payment.reference, source]);
  return credited;
}

function toOrder(row: OrderRow): Order {
  return {
    reference: row.reference,
    product: row.product,
    amount: row.amount,
    currency: row.currency,
    payUrl: row.pay_url,
    isPaid: row.is_paid,
    credits: { count: row.credit_count, total: row.credit_total, by: row.credited_by },
  };
}
