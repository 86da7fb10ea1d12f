import type { Settled } from '@paylink/payments';
import type { Notification } from './service.js';
import type { Order, World } from './world.js';

export interface Violation {
  readonly invariant:
    | 'acknowledged'
    | 'credited once'
    | 'credited only if paid'
    | 'amount'
    | 'reconciled'
    | 'unproven'
    | 'hangs';
  readonly text: string;
}

/** Milliseconds for a receiver's reply. `handlerTimeout` defaults to 25 seconds. */
const LONGEST_ANSWER = 25_000;
/** Milliseconds for `settle`: 25 seconds each for the store, the service and the credit. */
const LONGEST_SETTLE = 75_000;

/** The invariants of every history, checked on committed rows. */
export class Invariants {
  readonly violations: Violation[] = [];
  #reconciled = false;

  constructor(readonly world: World) {}

  violated(invariant: Violation['invariant'], text: string): void {
    if (
      this.violations.some(
        (violation) => violation.invariant === invariant && violation.text === text,
      )
    )
      return;
    this.violations.push({ invariant, text });
    this.world.timeline.tell('VIOLATED', `${invariant}: ${text}`);
  }

  /** Checks a receiver's reply: a 2xx requires a durable effect, or a deliberately skipped one. */
  onReply(
    { tenant, reference, kind, signedFor }: Notification,
    status: number,
    outcome: string | undefined,
    took: number,
  ): void {
    if (Math.floor(took) > LONGEST_ANSWER)
      this.violated('hangs', `${kind} ${tenant}/${reference} was answered after ${took} ms`);
    if (status >= 300) return;
    if (signedFor !== tenant) {
      this.violated(
        'unproven',
        `a ${kind} for ${tenant}/${reference} that was not signed for it was answered ${status}`,
      );
      return;
    }
    if (outcome === 'ignored') return;
    if (
      kind === 'payment.succeeded' &&
      this.#isPaid(tenant, reference) &&
      this.#effects(tenant, reference, 'credit') === 0
    ) {
      this.violated(
        'acknowledged',
        `${kind} ${tenant}/${reference} was answered ${status}, and nothing is credited`,
      );
    }
    if (kind === 'payment.refunded' && this.#effects(tenant, reference, 'refund') === 0) {
      this.violated(
        'acknowledged',
        `${kind} ${tenant}/${reference} was answered ${status}, and nothing is refunded`,
      );
    }
  }

  /** Checks a return page. Without `settled`, the page reports a failure. */
  onSettled({ tenant, reference }: Order, settled: Settled | undefined, took: number): void {
    const page = `the return page of ${tenant}/${reference}`;
    if (Math.floor(took) > LONGEST_SETTLE)
      this.violated('hangs', `${page} was shown after ${took} ms`);
    if (settled?.status === 'success' && !this.#isPaid(tenant, reference)) {
      this.violated(
        'credited only if paid',
        `${page} says success, and the service says that it is not paid`,
      );
    }
    if (settled?.credited === true && this.#effects(tenant, reference, 'credit') === 0) {
      this.violated(
        'acknowledged',
        `${page} says that it credited the order, and nothing is credited`,
      );
    }
  }

  /** Checks the first complete pass after the last fault. */
  afterReconcile(): void {
    this.#reconciled = true;
    this.#check();
    for (const { tenant, reference, amount, linkAmount } of this.world.orders) {
      if (!this.#isPaid(tenant, reference) || amount !== linkAmount) continue;
      if (this.#effects(tenant, reference, 'credit') === 0) {
        this.violated(
          'reconciled',
          `${tenant}/${reference} is paid, and not credited after a complete reconcile pass`,
        );
      }
    }
  }

  atTheEnd(): void {
    this.#check();
    if (!this.#reconciled) this.violated('hangs', 'no reconcile pass came to its end');
    for (const merchant of this.world.merchants) {
      if (merchant.unanswered > 0)
        this.violated(
          'hangs',
          `${merchant.name} left ${merchant.unanswered} requests without an answer`,
        );
    }
  }

  #check(): void {
    const { comparesAmounts } = this.world.design;
    for (const { tenant, reference, amount, linkAmount } of this.world.orders) {
      const credits = this.#credits(tenant, reference, 'credit');
      const times = this.#effects(tenant, reference, 'credit');
      if (times > 1)
        this.violated('credited once', `${tenant}/${reference} was credited ${times} times`);
      if (this.#effects(tenant, reference, 'refund') > 1)
        this.violated('credited once', `${tenant}/${reference} was refunded twice`);
      if (times > 0 && !this.#isPaid(tenant, reference)) {
        this.violated(
          'credited only if paid',
          `${tenant}/${reference} was credited, and the service says it is not paid`,
        );
      }
      if (credits.some((credit) => credit['amount'] !== amount)) {
        this.violated(
          'amount',
          `${tenant}/${reference} was credited with another amount than its own`,
        );
      }
      if (comparesAmounts && times > 0 && amount !== linkAmount) {
        this.violated(
          'amount',
          `${tenant}/${reference} was credited, and what was paid is ${linkAmount} and ` +
            `not its ${amount}`,
        );
      }
    }
  }

  #isPaid(tenant: string, reference: string): boolean {
    return this.world.service.statusOf(tenant, reference) === 'success';
  }

  #effects(tenant: string, reference: string, kind: string): number {
    const rows = this.#credits(tenant, reference, kind).length;
    const order = this.world.database.model
      .committed('orders')
      .find((row) => row['tenant'] === tenant && row['reference'] === reference);
    // A handler that counts in the order's own row writes no other row.
    return kind === 'credit' ? rows + Number(order?.['credits'] ?? 0) : rows;
  }

  #credits(tenant: string, reference: string, kind: string) {
    return this.world.database.model
      .committed('credits')
      .filter(
        (row) => row['tenant'] === tenant && row['reference'] === reference && row['kind'] === kind,
      );
  }
}
