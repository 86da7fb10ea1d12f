import { randomBytes, randomUUID } from 'node:crypto';
import { EmulatorError } from '../base/emulator-error.js';
import type { Assumed, DeliverySwitches } from '../contract/assumed.js';
import {
  toCreatedLink,
  toPayment,
  type Link,
  type PaymentLinkFields,
  type Payment,
  type PaymentStatus,
} from '../contract/payment.js';
import { replay } from './idempotency.js';

type OwnLink = Link & { status: PaymentStatus; chosen?: number };

interface Entry {
  readonly request: PaymentLinkFields;
  readonly link: OwnLink;
  /** The body of the 201, stored for a repeated key. */
  readonly created: string;
  readonly key: string | undefined;
  /** Pages that have already paid: a double click must not pay twice. */
  readonly pages: Set<string>;
}

export interface LedgerOptions {
  readonly assumed: Assumed;
  readonly payUrl: string;
  /** Called once per successful payment, with the switches that `pay` received. */
  readonly onSuccess: (payment: Payment, delivery: DeliverySwitches | undefined) => void;
}

/** `repeated`: the page was sent twice, or the single-use link is paid. */
export type PayOutcome = 'paid' | 'repeated' | 'refused';

/** Beyond these, the oldest link is forgotten with its key. */
const LINKS_KEPT = 10_000;
// Enough for every page that a customer can have open.
const PAGES_KEPT = 100;

/** Keeps links, their payments, and the idempotency keys of their requests. */
export class Ledger {
  readonly #options: LedgerOptions;
  /** The entries by token, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #byReference = new Map<string, Entry[]>();
  readonly #byKey = new Map<string | undefined, Entry>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /**
   * Creates a link, or returns the link of the same key.
   *
   * @throws EmulatorError `idempotency_conflict` or `reference_taken`, depending on `assumed`
   */
  create(request: PaymentLinkFields, key: string | undefined): { status: 200 | 201; body: string } {
    const { assumed } = this.#options;
    const earlier = key === undefined ? undefined : this.#byKey.get(key);
    if (earlier !== undefined) {
      const status = replay(JSON.stringify(earlier.request) === JSON.stringify(request), assumed);
      if (status !== undefined) return { status, body: earlier.created };
    }
    const isTaken = this.findByReference(request.reference) !== undefined;
    if (isTaken && assumed.duplicateReference === 'refuse') {
      const message = 'another payment link has this reference';
      throw new EmulatorError('reference_taken', message);
    }
    return { status: 201, body: this.#add(request, key).created };
  }

  find(token: string): Link | undefined {
    return this.#entries.get(token)?.link;
  }

  /** Returns every link, newest first. */
  list(): Link[] {
    return Array.from(this.#entries.values(), ({ link }) => link).reverse();
  }

  /** Finds the paid link for a reference, otherwise the newest link. */
  findByReference(reference: string): Link | undefined {
    const links = (this.#byReference.get(reference) ?? []).map(({ link }) => link);
    return links.find(({ status }) => status === 'success') ?? links.at(-1);
  }

  /** Returns the payment of a link in the API's form. */
  paymentOf(link: Link): Payment {
    return toPayment(link, this.#options.assumed.amountBeforeChoice);
  }

  /**
   * Records a success at most once per page, and at most once in total for a single-use link.
   *
   * @param how `page`: the id of the sent page. `delivery`: how to deliver the notification
   */
  pay(
    token: string,
    amount: number,
    how: { readonly page?: string; readonly delivery?: DeliverySwitches | undefined } = {},
  ): PayOutcome {
    const entry = this.#entry(token);
    const { link, pages } = entry;
    const { page = randomUUID(), delivery } = how;
    if (pages.has(page)) return 'repeated';
    const again = link.status === 'success';
    if (again && link.single_use === true) return 'repeated';
    if (!again && !this.allows(link, 'success')) return 'refused';
    pages.add(page);
    if (pages.size > PAGES_KEPT) pages.delete(pages.values().next().value!);
    link.chosen = amount;
    link.status = 'success';
    this.#options.onSuccess(this.paymentOf(link), delivery);
    return 'paid';
  }

  /** Records a cancellation or a failure. Returns true if the payment now has this status. */
  settle(token: string, status: 'failed' | 'cancelled'): boolean {
    const entry = this.#entry(token);
    if (!this.allows(entry.link, status)) return entry.link.status === status;
    entry.link.status = status;
    return true;
  }

  isPayable(link: Link): boolean {
    return this.allows(link, 'success') || (link.status === 'success' && link.single_use !== true);
  }

  allows(link: Link, status: PaymentStatus): boolean {
    return this.#options.assumed.transitions[link.status].includes(status);
  }

  reset(): void {
    for (const index of [this.#entries, this.#byReference, this.#byKey]) index.clear();
  }

  #entry(token: string): Entry {
    const entry = this.#entries.get(token);
    if (entry !== undefined) return entry;
    throw new EmulatorError('not_found', 'this payment link does not exist');
  }

  #add(request: PaymentLinkFields, key: string | undefined): Entry {
    const token = randomBytes(18).toString('base64url');
    const link: OwnLink = {
      ...request,
      token,
      url: `${this.#options.payUrl}/link/${token}`,
      status: 'pending',
      createdAt: new Date(),
    };
    const created = JSON.stringify(toCreatedLink(link));
    const entry: Entry = { request, link, created, key, pages: new Set() };
    this.#entries.set(token, entry);
    const { reference } = request;
    this.#byReference.set(reference, [...(this.#byReference.get(reference) ?? []), entry]);
    this.#byKey.set(key, entry);
    this.#forgetOldest();
    return entry;
  }

  #forgetOldest(): void {
    if (this.#entries.size <= LINKS_KEPT) return;
    const oldest = this.#entries.values().next().value!;
    const { token, reference } = oldest.link;
    const others = this.#byReference.get(reference)!.filter((entry) => entry !== oldest);
    this.#entries.delete(token);
    this.#byReference.set(reference, others);
    if (others.length === 0) this.#byReference.delete(reference);
    if (this.#byKey.get(oldest.key) === oldest) this.#byKey.delete(oldest.key);
  }
}
