import { randomUUID } from 'node:crypto';
import type { Source } from '@paylink/payments';
import type { Db } from './database.js';

/** One payment link of an order. */
export interface Attempt {
  readonly reference: string;
  /** Null until the link is created. */
  readonly payUrl: string | null;
}

export interface ShopOrder {
  readonly id: string;
  readonly product: string;
  /** The product's name in the customer's language, for the payment page. */
  readonly description: string;
  readonly amount: number;
  readonly currency: string;
  readonly isPaid: boolean;
  /** The newest first. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
  /** The order's credits in the shop's book. There must never be two. */
  readonly credits: { readonly count: number; readonly total: number; readonly by: Source | null };
}

/** The price of a new order. */
export interface Price {
  readonly amount: number;
  readonly currency: string;
}

const FIND = `
  SELECT id, product, description, amount, currency, paid_reference AS paidReference
    FROM attempts JOIN orders ON id = order_id WHERE reference = ?`;

const ATTEMPTS = `
  SELECT reference, pay_url AS payUrl FROM attempts WHERE order_id = ? ORDER BY number DESC`;

const CREDITS = `
  SELECT count(*) AS count, coalesce(sum(amount), 0) AS total, min(credited_by) AS by
    FROM credits JOIN attempts USING (reference) WHERE order_id = ?`;

// Two requests at once add one attempt, because the number is unique within the order.
const TRY_AGAIN = `
  INSERT INTO attempts (reference, order_id, number)
  SELECT ?, id, ? FROM orders WHERE id = ? AND paid_reference IS NULL
      ON CONFLICT (order_id, number) DO NOTHING`;

type Row = Omit<ShopOrder, 'isPaid' | 'attempts' | 'credits'> & {
  readonly paidReference: string | null;
};

/** The shop's orders, as its pages need them. */
export class ShopOrders {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Inserts an order and its first attempt, before the payment link is created. A random reference
   * cannot be guessed, and it does not repeat after a restored backup.
   */
  create(product: string, description: string, { amount, currency }: Price): string {
    const [id, reference] = [randomUUID(), randomUUID()];
    const insert = this.#db.transaction(() => {
      this.#db
        .prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL)')
        .run(id, product, description, amount, currency);
      this.#db.prepare(TRY_AGAIN).run(reference, 1, id);
    });
    insert();
    return reference;
  }

  /** Adds an attempt, unless the order was paid or tried again after it was read. */
  tryAgain({ id, attempts }: ShopOrder): void {
    this.#db.prepare(TRY_AGAIN).run(randomUUID(), attempts.length + 1, id);
  }

  setPayUrl(reference: string, payUrl: string): void {
    this.#db.prepare('UPDATE attempts SET pay_url = ? WHERE reference = ?').run(payUrl, reference);
  }

  /** Returns the order by the reference of any of its attempts. */
  find(reference: string): ShopOrder | undefined {
    const row = this.#db.prepare(FIND).get(reference) as Row | undefined;
    if (row === undefined) return undefined;
    const { paidReference, ...order } = row;
    const attempts = this.#db.prepare(ATTEMPTS).all(order.id) as unknown as ShopOrder['attempts'];
    const credits = this.#db.prepare(CREDITS).get(order.id) as ShopOrder['credits'];
    return { ...order, isPaid: paidReference !== null, attempts, credits };
  }
}
