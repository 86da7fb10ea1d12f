/**
 * The types between the merchant and Paylink: two functions of the merchant on the orders that the
 * merchant already stores. Paylink keeps no table, no mark, no lock and no transaction.
 */

/** The trigger of a run: the notification, the return page or the schedule. */
export type Source = 'webhook' | 'settle' | 'reconcile';

/** In the smallest unit of the currency. A string holds digits, at most with a fraction of zeros. */
export type Amount = number | bigint | string;

/** An order as the merchant's database has it. */
export interface Order {
  /** As stored. An order with another spelling is another order. */
  readonly reference: string;
  /** The stored amount, or the bounds of an amount that the customer chooses. */
  readonly amount: Amount | { readonly min: Amount; readonly max: Amount };
  /** The stored currency code, such as `XOF`. */
  readonly currency: string;
  /** True if the order was ever credited. Stays true when the order is shipped or refunded. */
  readonly paid: boolean;
  /** True if the order expired or was cancelled. A person decides about a later payment. */
  readonly closed?: boolean | undefined;
}

/** A payment that the service has confirmed and that matches the order. */
export interface ConfirmedPayment {
  readonly reference: string;
  /** The amount that the service says was paid, a positive safe integer. */
  readonly amount: number;
  readonly currency: string;
}

export interface FindContext {
  /** The merchant whose orders these are. `null` if there is one merchant, never `undefined`. */
  readonly tenant: string | null;
  /** Aborts when the run ends. */
  readonly signal: AbortSignal;
}

export interface CreditContext extends FindContext {
  readonly source: Source;
}

/** References, all at once or read one by one. The oldest come first. */
export type References = (Iterable<string> & object) | AsyncIterable<string>;

/** The merchant's orders. `find` reads, and `credit` is the one conditional write. */
export interface Orders {
  /**
   * Returns the order as it stands. Must not show a row that unfinished code has not committed.
   */
  find(
    reference: string,
    context: FindContext,
  ): PromiseLike<Order | null | undefined> | Order | null | undefined;
  /**
   * Credits the order in one write that changes a row only if the order is unpaid. Returns the
   * number of changed rows, or `null` if the driver does not know. Paylink reads the order again:
   * only a row that says paid counts.
   */
  credit(
    payment: ConfirmedPayment,
    context: CreditContext,
  ): PromiseLike<number | bigint | null> | number | bigint | null;
  /** For `reconcile` without references: the unpaid orders, the oldest first. */
  unpaid?(context: FindContext): References | PromiseLike<References>;
  /** For `verify` without references: the paid orders. */
  paid?(context: FindContext): References | PromiseLike<References>;
}
