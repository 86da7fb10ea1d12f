import { randomBytes } from 'node:crypto';
import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import type { Payment } from '@paylink/client';
import { creditOrder } from './credit-order.js';

export interface Order {
  readonly reference: string;
  readonly product: string;
  readonly amount: number;
  readonly payUrl: string | null;
  readonly isPaid: boolean;
  /** What the shop's book of credits says of this order: there must never be two. */
  readonly credits: { readonly count: number; readonly total: number };
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (
    reference text PRIMARY KEY,
    product text NOT NULL,
    amount integer NOT NULL CHECK (amount > 0),
    pay_url text,
    created_at timestamptz NOT NULL DEFAULT now(),
    paid_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS credits (
    reference text PRIMARY KEY REFERENCES orders,
    amount integer NOT NULL,
    credited_at timestamptz NOT NULL DEFAULT now()
  );
`;

interface OrderRow {
  readonly reference: string;
  readonly product: string;
  readonly amount: number;
  readonly pay_url: string | null;
  readonly is_paid: boolean;
  readonly credit_count: number;
  readonly credit_total: number;
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

  /** Inserts an order, before its payment link is created. Its reference cannot be guessed. */
  async create(product: string, amount: number): Promise<string> {
    const reference = `order-${randomBytes(12).toString('hex')}`;
    await this.#db.query('INSERT INTO orders (reference, product, amount) VALUES ($1, $2, $3)', [reference, product, amount]);
    return reference;
  }

  async setPayUrl(reference: string, payUrl: string): Promise<void> {
    await this.#db.query('UPDATE orders SET pay_url = $2 WHERE reference = $1', [reference, payUrl]);
  }

  async find(reference: string): Promise<Order | undefined> {
    const { rows } = await this.#db.query<OrderRow>(
      `SELECT o.reference, o.product, o.amount, o.pay_url, o.paid_at IS NOT NULL AS is_paid,
              count(c.reference)::int AS credit_count, coalesce(sum(c.amount), 0)::int AS credit_total
         FROM orders o LEFT JOIN credits c USING (reference)
        WHERE o.reference = $1 GROUP BY o.reference`,
      [reference],
    );
    const row = rows[0];
    return row && toOrder(row);
  }

  /** The orders that are not credited yet. */
  async unpaid(): Promise<string[]> {
    const { rows } = await this.#db.query<{ reference: string }>(
      'SELECT reference FROM orders WHERE paid_at IS NULL AND pay_url IS NOT NULL ORDER BY created_at',
    );
    return rows.map(({ reference }) => reference);
  }
}

/** Credits the order by the recipe, and writes the credit into the shop's book in the same transaction. */
export async function bookCredit(tx: Transaction, payment: Payment): Promise<void> {
  if (!(await creditOrder(tx, payment))) return;
  await tx.query('INSERT INTO credits (reference, amount) SELECT reference, amount FROM orders WHERE reference = $1', [
    payment.reference,
  ]);
}

function toOrder(row: OrderRow): Order {
  return {
    reference: row.reference,
    product: row.product,
    amount: row.amount,
    payUrl: row.pay_url,
    isPaid: row.is_paid,
    credits: { count: row.credit_count, total: row.credit_total },
  };
}
