import type { Row } from './database.js';
import type { Notification } from './service.js';
import type { World } from './world.js';

export interface Violation {
  readonly invariant:
    | 'credited once'
    | 'credited only if paid'
    | 'acknowledged'
    | 'unproven'
    | 'reconciled'
    | 'answered in time';
  readonly text: string;
}

/** Milliseconds for a receiver's reply, `handlerTimeout`, and for `settle`, its `wait`. */
const LONGEST_ANSWER = 25_000;
const LONGEST_SETTLE = 3_000;

/** What must hold in every history. */
export class Invariants {
  readonly violations: Violation[] = [];
  #isReconciled = false;

  constructor(readonly world: World) {}

  violated(invariant: Violation['invariant'], text: string): void {
    this.violations.push({ invariant, text });
    this.world.tell('VIOLATED', `${invariant}: ${text}`);
  }

  /** Checks a credit at the moment of its write. */
  onCredit(row: Row): void {
    const order = nameOf(row);
    const payment = this.world.service.payment(row.tenant, row.reference);
    this.world.tell('database', `credits ${order}`);
    if (row.credits > 1) this.violated('credited once', `${order}: ${row.credits} credits`);
    const isRight = payment?.amount === row.amount && payment.currency === row.currency;
    if (payment?.status !== 'success' || !isRight)
      this.violated('credited only if paid', `${order}: ${JSON.stringify(payment)}`);
  }

  /** Checks a reply: 200 only if the row says paid. */
  onReply(
    { tenant, reference, kind, signedFor }: Notification,
    status: number,
    took: number,
  ): void {
    const what = `${kind} ${nameOf({ tenant, reference })}`;
    if (took > LONGEST_ANSWER + 1) this.violated('answered in time', `${what}: ${took} ms`);
    if (status !== 200) return;
    if (signedFor !== tenant) this.violated('unproven', what);
    else if (kind === 'payment.succeeded' && !this.#isCredited(tenant, reference))
      this.violated('acknowledged', `${what} was acknowledged, and the row is unpaid`);
  }

  onSettled(tenant: string | null, reference: string, status: string, took: number): void {
    const page = `the page of ${nameOf({ tenant, reference })}`;
    if (took > LONGEST_SETTLE + 1) this.violated('answered in time', `${page}: ${took} ms`);
    if (status === 'paid' && !this.#isCredited(tenant, reference))
      this.violated('acknowledged', `${page} says paid, and the row is unpaid`);
  }

  /** Checks the first complete pass of the schedule after the last fault. */
  afterReconcile(): void {
    this.#isReconciled = true;
    for (const { tenant, reference, amount, currency } of this.world.orders) {
      const payment = this.world.service.payment(tenant, reference);
      const isDue =
        payment?.status === 'success' &&
        payment.amount === amount &&
        payment.currency === currency &&
        this.world.database.row(tenant, reference)?.closedAt === undefined;
      if (isDue && !this.#isCredited(tenant, reference))
        this.violated('reconciled', `${nameOf({ tenant, reference })} is paid, and not credited`);
    }
  }

  atTheEnd(): void {
    if (!this.#isReconciled) this.violated('reconciled', 'no pass of the schedule was complete');
    for (const { name, unanswered } of this.world.shops)
      if (unanswered > 0) this.violated('answered in time', `${name}: ${unanswered} open requests`);
  }

  #isCredited(tenant: string | null, reference: string): boolean {
    return (this.world.database.row(tenant, reference)?.credits ?? 0) > 0;
  }
}

function nameOf({ tenant, reference }: Pick<Row, 'tenant' | 'reference'>): string {
  return `${tenant ?? '-'}/${reference}`;
}
