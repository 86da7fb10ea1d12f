/**
 * The types between the merchant and Paylink: two functions for the orders that the merchant
 * already stores. Paylink does not keep a table, a mark, a lock or a transaction.
 */
import type { Logger } from '@paylink/core';

/** The source of a run: a notification, the return page or the schedule. */
export type Source = 'webhook' | 'settle' | 'reconcile';

/** An amount in the currency's smallest unit. After a dot, a string can only contain zeros. */
export type Amount = number | bigint | string;

/** An order as stored in the merchant's database. */
export interface Order {
  /** The stored reference. A different spelling is a different order. */
  readonly reference: string;
  /** The stored amount, or the bounds of an amount that the customer chooses. */
  readonly amount: Amount | { readonly min: Amount; readonly max: Amount };
  /** The stored currency code, such as `XOF`. */
  readonly currency: string;
  /** True if the order was ever credited. Stays true after the order is shipped or refunded. */
  readonly paid: boolean;
  /**
   * True if the order expired or was cancelled. A later payment then needs a manual decision. If
   * you return `closed`, `credit` must write only while the order is open.
   */
  readonly closed?: boolean | undefined;
}

/** A payment that the service has confirmed and that matches the order. */
export interface ConfirmedPayment {
  readonly reference: string;
  /** The amount that the service confirms as paid, a positive safe integer. */
  readonly amount: number;
  readonly currency: string;
}

export type FindContext = {
  /** The merchant whose orders these are. `null` if there is only one, never `undefined`. */
  readonly tenant: string | null;
  /** Aborts when the run or the list ends early, for example at its time limit. */
  readonly signal: AbortSignal;
};

export type CreditContext = FindContext & {
  readonly source: Source;
};

/** References in a list, or read one by one, with the oldest first. */
export type References = (Iterable<string> & object) | AsyncIterable<string>;

/** The merchant's orders. `find` reads an order, and `credit` is the one conditional write. */
export interface Orders {
  /** Returns the current order. Must not return changes that are not committed yet. */
  find(
    reference: string,
    context: FindContext,
  ): PromiseLike<Order | null | undefined> | Order | null | undefined;
  /**
   * Credits the order in one write that changes the row only if the order is unpaid. Returns the
   * number of changed rows, or `null` if the driver does not report it. Paylink then reads the
   * order again, because only a row marked paid counts.
   */
  credit(
    payment: ConfirmedPayment,
    context: CreditContext,
  ): PromiseLike<number | bigint | null> | number | bigint | null;
  /** Returns the unpaid orders, oldest first. Used by `reconcile` unless you pass references. */
  unpaid?(context: FindContext): References | PromiseLike<References>;
  /** Returns the paid orders. Used by `verify` unless you pass references. */
  paid?(context: FindContext): References | PromiseLike<References>;
}

/** The fields of the service's response that Paylink reads. */
export type ServicePayment = {
  readonly reference: string;
  /** `pending`, `success`, `failed` or `cancelled`. Any other status confirms nothing. */
  readonly status: string;
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
};

/** Reads payments from the service. The client from `@paylink/client` implements this interface. */
export interface PaymentClient {
  /**
   * Rejects if the service does not return a payment. Paylink reads an error's `status` (404 for no
   * such payment, 429 for a pause, 401 for a rejected key) and `retryAfter` in milliseconds. Do not
   * retry a 429, because Paylink pauses the requests for all orders.
   */
  getPayment(reference: string, options: FindContext): PromiseLike<ServicePayment>;
}

/** The options of `createPayments`. */
export interface PaymentsOptions {
  /**
   * The client that confirms each payment with the service before a credit, or a function that
   * returns a tenant's client. Paylink calls the function when it first needs the tenant's client.
   */
  readonly client: PaymentClient | ((tenant: string | null) => PaymentClient);
  /** Your `find` and `credit`, and `unpaid` and `paid` for `reconcile` and `verify`. */
  readonly orders: Orders;
  /** Maximum number of requests in flight for each client, 1 to 1,000. Default 32. */
  readonly concurrency?: number | undefined;
  /** Milliseconds after which a run for one order fails, 1 to 300,000. Default 20,000. */
  readonly timeout?: number | undefined;
  /** Receives errors from `settle`, `reconcile` and `credit`, and warnings. Default: `console`. */
  readonly logger?: Logger | undefined;
  /**
   * Called at the end of each run for an order. `receive` and `settle` start one run. `reconcile`
   * starts one for each reference that it reaches, and another after a 429.
   */
  readonly observe?: ((outcome: PaymentOutcome) => unknown) | undefined;
}

/** Every outcome of a run. docs/errors.md explains each. */
export type Outcome =
  | 'credited'
  | 'paid'
  | 'pending'
  | 'no_payment'
  | 'failed'
  | 'cancelled'
  | 'unknown_order'
  | 'order_closed'
  | 'amount_differs'
  | 'not_credited'
  | 'invalid_order'
  | 'orders_unavailable'
  | 'confirm_unavailable'
  | 'handler_timeout';

/** The outcome of a run, as passed to `observe`. */
export interface PaymentOutcome {
  readonly source: Source;
  readonly outcome: Outcome;
  readonly reference: string;
  readonly tenant: string | null;
  readonly durationMs: number;
}

export type Settled = {
  /**
   * `paid`: the order is marked paid. `closed` and `differs`: the customer paid for a closed order,
   * or paid a different amount or currency. `unknown`: the order or its payment is missing.
   * `unavailable`: the result is not known yet, so ask the customer to wait.
   */
  readonly status:
    | 'paid'
    | 'pending'
    | 'failed'
    | 'cancelled'
    | 'closed'
    | 'differs'
    | 'unknown'
    | 'unavailable';
  /** The service's response, if this run has one. It can be up to 30 seconds old. */
  readonly payment?: ServicePayment;
};

export type Explanation = {
  /** The order's fields that Paylink reads, as `find` returns them, or `null`. */
  readonly order: Order | null;
  /** The service's response, or `null` if there is none. */
  readonly payment: ServicePayment | null;
  /** The predicted outcome of the next `settle`. `credited`: it would credit the order. */
  readonly outcome: Outcome;
  /** The reason for the outcome, as a sentence meant for people. */
  readonly reason: string;
  /** The error behind the outcome. Its causes are the errors of the client or of `find`. */
  readonly error?: unknown;
};

/** The number of references with a result, and the first 1,000 of them. */
export type Listed = {
  readonly count: number;
  readonly references: readonly string[];
};

export type ListedWithDetails = Listed & {
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly details: readonly {
    readonly reference: string;
    readonly outcome: Outcome;
    readonly message: string;
  }[];
};

interface SweepReport {
  /** The number of different references. Each is counted in exactly one list of the report. */
  readonly total: number;
  /** Orders with a 404 from the service. The link of an unpaid order was probably never created. */
  readonly noPayment: Listed;
  /** Orders that could not be read, checked with the service or credited. */
  readonly errors: ListedWithDetails;
  /** Orders that the run did not reach because of its time limit, a 429 or a rejected key. */
  readonly notAsked: Listed;
  /** True if the service answered 401 for two orders. The run then does not start other orders. */
  readonly keyRefused: boolean;
  /** Pass this cursor to the next run. Undefined if the run reached every reference. */
  readonly cursor: string | undefined;
}

/** The result of `reconcile`: lists of references. */
export interface ReconcileReport extends SweepReport {
  readonly credited: Listed;
  /** Orders that were already paid, or that another call credited. */
  readonly paid: Listed;
  readonly pending: Listed;
  readonly failed: Listed;
  readonly cancelled: Listed;
  /** Orders that need a manual decision (`order_closed`, `amount_differs`). They are not errors. */
  readonly undecided: ListedWithDetails;
}

/** The result of `verify`: lists of references. */
export interface VerifyReport extends SweepReport {
  /** Orders marked paid for which the service confirms the same amount and currency. */
  readonly confirmed: Listed;
  /** Orders marked paid for which the service returns pending, failed or cancelled. */
  readonly notPaid: Listed;
  /** Orders marked paid for which the service returns a different amount or currency. */
  readonly differs: Listed;
  /** Orders that are unpaid, so there is nothing to verify. */
  readonly unpaid: Listed;
}

export type SweepProgress = {
  readonly ended: number;
  readonly total: number;
  readonly credited: number;
  readonly errors: number;
  /** Milliseconds until requests resume, if the service asked for a pause. */
  readonly pause: number;
  /** Pass this cursor to the next run if you end this run now. */
  readonly cursor: string | undefined;
};

export type SweepOptions = {
  /** The `cursor` from the last report or progress. The run starts there and wraps around. */
  readonly cursor?: string | undefined;
  /** Called once per second, and after the last reference. */
  readonly onProgress?: ((progress: SweepProgress) => unknown) | undefined;
  /** Maximum number of orders in progress at the same time, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Required if `client` is a function. */
  readonly tenant?: string | null | undefined;
  /** Ends the run. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, including pauses, after which no more orders start. Default 600,000. */
  readonly timeLimit?: number | undefined;
};

/** Three functions that credit an order once, and two that only read. None of them uses `this`. */
export interface Payments {
  /**
   * Credits the order of a verified `payment.succeeded`. Pass it to `paymentWebhook`, or call it in
   * a queue worker or behind a gate. Resolves only if the order is marked paid.
   *
   * @throws WebhookError with the code, status and `retryAfter` of the reply
   */
  readonly receive: (
    event: {
      readonly type: string;
      readonly reference: string;
      readonly tenant?: string | null | undefined;
    },
    context?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<void>;
  /**
   * Asks the service for an order's payment and credits the order if the payment succeeded. Call it
   * on the return page.
   *
   * @throws only ConfigurationError, for an invalid option
   */
  readonly settle: (
    reference: string,
    options?: {
      /** Required if `client` is a function. */
      readonly tenant?: string | null | undefined;
      /** Ends this call's wait with `unavailable`. A run that has asked the service continues. */
      readonly signal?: AbortSignal | undefined;
      /** Milliseconds after which the status is `unavailable`, as after an abort. Default 3,000. */
      readonly wait?: number | undefined;
    },
  ) => Promise<Settled>;
  /**
   * Settles each unpaid order. Run it on a schedule. A failing order does not stop the others.
   *
   * @param references default: `orders.unpaid()`
   * @throws ConfigurationError, the reason of the signal, or the error of a list that throws or
   *   hangs for `timeout`, after the references before the error are settled
   */
  readonly reconcile: (references?: References, options?: SweepOptions) => Promise<ReconcileReport>;
  /**
   * Compares paid orders with the service. Never writes.
   *
   * @param references default: `orders.paid()`
   * @throws as `reconcile`
   */
  readonly verify: (references?: References, options?: SweepOptions) => Promise<VerifyReport>;
  /** Predicts the next `settle`. Never writes. @throws ConfigurationError, or the abort's reason */
  readonly explain: (
    reference: string,
    options?: {
      /** The merchant. Required if `client` is a function. */
      readonly tenant?: string | null | undefined;
      /** Ends the wait. */
      readonly signal?: AbortSignal | undefined;
    },
  ) => Promise<Explanation>;
}
