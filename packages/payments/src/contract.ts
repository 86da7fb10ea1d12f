/**
 * The types between the merchant and Paylink: two functions of the merchant on the orders that the
 * merchant already stores. Paylink keeps no table, no mark, no lock and no transaction.
 */
import type { Logger } from '@paylink/core';

/** The trigger of a run: the notification, the return page or the schedule. */
export type Source = 'webhook' | 'settle' | 'reconcile';

/** In the currency's smallest unit. A string holds digits, and at most zeros after a dot. */
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
  /**
   * True if the order expired or was cancelled. A person decides about a later payment. If you
   * return it, `credit` must write only while the order is open.
   */
  readonly closed?: boolean | undefined;
}

/** A payment that the service has confirmed and that matches the order. */
export interface ConfirmedPayment {
  readonly reference: string;
  /** The amount that the service says was paid, a positive safe integer. */
  readonly amount: number;
  readonly currency: string;
}

export type FindContext = {
  /** The merchant whose orders these are. `null` if there is one merchant, never `undefined`. */
  readonly tenant: string | null;
  /** Aborts when the run or the list ends early, such as at its time limit. */
  readonly signal: AbortSignal;
};

export type CreditContext = FindContext & {
  readonly source: Source;
};

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
   * only a row marked as paid counts.
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

/** The fields of the service's answer that Paylink reads. */
export type ServicePayment = {
  readonly reference: string;
  /** `pending`, `success`, `failed` or `cancelled`. Another status confirms nothing. */
  readonly status: string;
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
};

/** Reads payments from the service. The client of `@paylink/client` implements this interface. */
export interface PaymentClient {
  /**
   * Rejects if the service does not answer with a payment. Paylink reads an error's `status` (404
   * for no such payment, 429 for a pause, 401 for a refused key) and `retryAfter` in milliseconds.
   * Throw a 429 at once: Paylink pauses the requests for all orders.
   */
  getPayment(reference: string, options: FindContext): PromiseLike<ServicePayment>;
}

/** The options of `createPayments`. */
export interface PaymentsOptions {
  /**
   * Asks the service before anything is credited: a client, or a function that returns the client
   * of a tenant. Paylink calls the function when it first needs the tenant's client.
   */
  readonly client: PaymentClient | ((tenant: string | null) => PaymentClient);
  /** Your `find` and `credit`, and `unpaid` and `paid` for `reconcile` and `verify`. */
  readonly orders: Orders;
  /** Requests in flight at once for each client, 1 to 1,000. Default 32. */
  readonly concurrency?: number | undefined;
  /** Milliseconds after which one order's run has failed, 1 to 300,000. Default 20,000. */
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

/** The outcome of one run, for `observe`. */
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
   * or paid another amount or currency. `unknown`: no such order, or no such payment.
   * `unavailable`: not known now, so ask the customer to wait.
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
  /** The service's answer, if this run has one. Up to 30 seconds old. */
  readonly payment?: ServicePayment;
};

export type Explanation = {
  /** The order's fields that Paylink reads, as `find` returns them, or `null`. */
  readonly order: Order | null;
  /** The service's answer, or `null` if there is none. */
  readonly payment: ServicePayment | null;
  /** The predicted outcome of the next `settle`. `credited`: it would credit the order. */
  readonly outcome: Outcome;
  /** The reason for the outcome, in a sentence for people. */
  readonly reason: string;
  /** The error behind the outcome. Its causes are the errors of the client or of `find`. */
  readonly error?: unknown;
};

/** How many references had a result, and the first 1,000 of them. */
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
  /** The number of different references. Each counts in exactly one list of the report. */
  readonly total: number;
  /** The service answered 404: for an unpaid order, most likely its link was never created. */
  readonly noPayment: Listed;
  /** Orders that could not be read, asked about or credited. */
  readonly errors: ListedWithDetails;
  /** Not reached: the time was over, the service limited its requests, or refused the key. */
  readonly notAsked: Listed;
  /** True if the service answered 401 for two orders. The run then began no other order. */
  readonly keyRefused: boolean;
  /** Pass it to the next run. Undefined if the run reached every reference. */
  readonly cursor: string | undefined;
}

/** The result of `reconcile`: lists of references. */
export interface ReconcileReport extends SweepReport {
  readonly credited: Listed;
  /** Paid before, or by another call. */
  readonly paid: Listed;
  readonly pending: Listed;
  readonly failed: Listed;
  readonly cancelled: Listed;
  /** Cases for a person: `order_closed` and `amount_differs`. They are not errors. */
  readonly undecided: ListedWithDetails;
}

/** The result of `verify`: lists of references. */
export interface VerifyReport extends SweepReport {
  /** The order is marked paid, and the service confirms the same amount and currency. */
  readonly confirmed: Listed;
  /** The order is marked paid, and the service returns pending, failed or cancelled. */
  readonly notPaid: Listed;
  /** The order is marked paid, and the service has another amount or currency. */
  readonly differs: Listed;
  /** The order is unpaid, so there is nothing to verify. */
  readonly unpaid: Listed;
}

export type SweepProgress = {
  readonly ended: number;
  readonly total: number;
  readonly credited: number;
  readonly errors: number;
  /** Milliseconds that the requests still pause, because the service asked for it. */
  readonly pause: number;
  /** The next run starts here if you end this run now. */
  readonly cursor: string | undefined;
};

export type SweepOptions = {
  /** `cursor` of the last report or progress. The run starts there, and wraps round. */
  readonly cursor?: string | undefined;
  /** Called once per second, and when the last reference is done. */
  readonly onProgress?: ((progress: SweepProgress) => unknown) | undefined;
  /** Orders in progress at once, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined;
  /** Required if `client` is a function. */
  readonly tenant?: string | null | undefined;
  /** Ends the run. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the run with its pauses. No reference starts afterwards. Default 600,000. */
  readonly timeLimit?: number | undefined;
};

/** Three ways to credit an order once, and two that only read. The functions are bound. */
export interface Payments {
  /**
   * Credits the order of a verified `payment.succeeded`. A handler for `paymentWebhook`, for queue
   * workers and for code behind a gate. Resolves only if the order is marked paid.
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
   * Asks the service for the payment of an order, and credits the order if the payment succeeded.
   * Call it on the return page.
   *
   * @throws ConfigurationError for a wrong option, and for nothing else
   */
  readonly settle: (
    reference: string,
    options?: {
      /** Required if `client` is a function. */
      readonly tenant?: string | null | undefined;
      /** Ends this call's wait with `unavailable`. A run that has asked the service continues. */
      readonly signal?: AbortSignal | undefined;
      /** Milliseconds after which the status is `unavailable`, as on abort. Default 3,000. */
      readonly wait?: number | undefined;
    },
  ) => Promise<Settled>;
  /**
   * Settles each unpaid order, for a schedule. A failing order does not stop the others.
   *
   * @param references default: `orders.unpaid()`
   * @throws ConfigurationError, the reason of the signal, or the error of a list that throws or
   *   hangs for `timeout`. Settles the references before the error first
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
