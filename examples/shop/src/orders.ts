import { randomUUID } from 'node:crypto';
import type { Source } from '@paylink/payments';
import type { Db } from './database.js';

export interface ShopOrder {
  readonly reference: string;
  readonly product: string;
  readonly amount: number;
  readonly currency: string;
  readonly payUrl: string | null;
  readonly isPaid: boolean;
  /** The order's credits in the shop's book. There must never be two. */
  readonly credits: { readonly count: number; readonly total: number; readonly by: Source | null };
}

/** The price of a new order. */
export interface Price {
  readonly amount: number;
  readonly currency: string;
}

const FIND = `
  SELECT o.reference, o.product, o.amount, o.currency, o.pay_url AS payUrl, o.paid_at AS paidAt,
         count(c.reference) AS count, coalesce(sum(c.amount), 0) AS total, min(c.credited_by) AS by
    FROM orders o LEFT JOIN credits c USING (reference)
   WHERE o.reference = ? GROUP BY o.reference`;

interface Row extends Omit<ShopOrder, 'isPaid' | 'credits'> {
  readonly paidAt: string | null;
  readonly count: number;
  readonly total: number;
  readonly by: Source | null;
}

/** The shop's orders, as its pages need them. */
export class ShopOrders {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Inserts an order before its payment link is created. A random reference cannot be guessed, and
   * it does not repeat after a restored backup.
   */
  create(product: string, { amount, currency }: Price): string {
    const reference = randomUUID();
    this.#db
      .prepare('INSERT INTO orders (reference, product, amount, currency) VALUES (?, ?, ?, ?)')
      .run(reference, product, amount, currency);
    return reference;
  }

  setPayUrl(reference: string, payUrl: string): void {
    this.#db.prepare('UPDATE orders SET pay_url = ? WHERE reference = ?').run(payUrl, reference);
  }

  find(reference: string): ShopOrder | undefined {
    const row = this.#db.prepare(FIND).get(reference) as Row | undefined;
    if (row === undefined) return undefined;
    const { product, amount, currency, payUrl, paidAt, count, total, by } = row;
    const credits = { count, total, by };
    return { reference, product, amount, currency, payUrl, isPaid: paidAt != null, credits };
  }
}
