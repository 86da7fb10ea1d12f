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
import { restoreAll, type StoredRecord } from '../state/record.js';
import type { Store } from '../state/state-file.js';
import { replay } from './idempotency.js';
import { parseLinkRequest } from './link-request.js';

type OwnLink = Link & { status: PaymentStatus; chosen?: number };

interface Entry {
  readonly request: PaymentLinkFields;
  readonly link: OwnLink;
  /** The body of the 201, kept for a repeated key. */
  readonly created: string;
  readonly key: string | undefined;
  /** Pages that have already paid: a double click must not pay twice. */
  readonly pages: Set<string>;
}

export interface LedgerOptions {
  readonly assumed: Assumed;
  readonly payUrl: string;
  readonly store: Store;
  /** Called once per successful payment, with the switches that `pay` got. */
  readonly onSuccess: (link: Link, delivery: DeliverySwitches | undefined) => void;
}

/** `repeated`: the page was sent twice, or the single-use link is paid. */
export type PayOutcome = 'paid' | 'repeated' | 'refused';

export interface Creation {
  readonly status: 200 | 201;
  readonly body: string;
  readonly token: string;
}

// Enough for every page that a customer can have open.
const PAGES_KEPT = 100;
const KIND = 'link';
const STATUSES: readonly PaymentStatus[] = ['pending', 'success', 'failed', 'cancelled'];

/** Keeps links, their payments, and the idempotency keys of their requests. */
export class Ledger {
  readonly #options: LedgerOptions;
  /** The entries by token, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #byReference = new Map<string, Entry[]>();
  readonly #byKey = new Map<string | undefined, Entry>();

  /** @throws ConfigurationError for a wrong record of the store */
  constructor(options: LedgerOptions) {
    this.#options = options;
    restoreAll(options.store, KIND, (record, token) => this.#restore(record, token));
  }

  /**
   * Creates a link, or returns the link of the same key.
   *
   * @throws EmulatorError `idempotency_conflict` or `reference_taken`, depending on `assumed`
   */
  create(request: PaymentLinkFields, key: string | undefined): Creation {
    const { assumed } = this.#options;
    const earlier = key === undefined ? undefined : this.#byKey.get(key);
    if (earlier !== undefined) {
      const status = replay(JSON.stringify(earlier.request) === JSON.stringify(request), assumed);
      if (status !== undefined) return toCreation(earlier, status);
    }
    const isTaken = this.findByReference(request.reference) !== undefined;
    if (isTaken && assumed.duplicateReference === 'refuse') {
      const message = 'another payment link has this reference';
      throw new EmulatorError('reference_taken', message);
    }
    return toCreation(this.#add(request, key), 201);
  }

  find(token: string): Link | undefined {
    return this.#entries.get(token)?.link;
  }

  /** Returns every link, newest first. */
  list(): Link[] {
    return Array.from(this.#entries.values(), ({ link }) => link).reverse();
  }

  /** Finds the paid link of a reference, otherwise the newest link. */
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
   * @param how `page`: the id of the sent page. `delivery`: how the notification travels
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
    // Writes the payment and its notification together: a kill between them would leave a payment
    // without a notification.
    this.#options.store.together(() => {
      this.#turn(entry, 'success');
      this.#options.onSuccess({ ...link }, delivery);
    });
    return 'paid';
  }

  /** Records a cancellation or a failure. Returns true if the payment now has this status. */
  settle(token: string, status: 'failed' | 'cancelled'): boolean {
    const entry = this.#entry(token);
    if (!this.allows(entry.link, status)) return entry.link.status === status;
    this.#turn(entry, status);
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

  #turn(entry: Entry, status: PaymentStatus): void {
    entry.link.status = status;
    this.#keep(entry);
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
      url: this.#urlOf(token),
      status: 'pending',
      createdAt: new Date(),
    };
    const created = JSON.stringify(toCreatedLink(link));
    const entry: Entry = { request, link, created, key, pages: new Set() };
    this.#index(entry);
    this.#keep(entry);
    this.#forgetOldest();
    return entry;
  }

  #urlOf(token: string): string {
    return `${this.#options.payUrl}/link/${token}`;
  }

  #index(entry: Entry): void {
    const { token, reference } = entry.link;
    this.#entries.set(token, entry);
    this.#byReference.set(reference, [...(this.#byReference.get(reference) ?? []), entry]);
    this.#byKey.set(entry.key, entry);
  }

  #keep({ request, link, key, pages }: Entry): void {
    const { token, status, chosen, createdAt } = link;
    const record = { request, status, amount: chosen, createdAt, key, pages: [...pages] };
    this.#options.store.put(KIND, token, record);
  }

  /** @throws Error that names the wrong field */
  #restore(record: StoredRecord, token: string): void {
    const body = new TextEncoder().encode(JSON.stringify(record.get('request') ?? null));
    const request = parseLinkRequest(body, this.#options.assumed);
    const link: OwnLink = {
      ...request,
      ...(record.has('amount') ? { chosen: record.whole('amount') } : {}),
      token,
      // The port may have changed since.
      url: this.#urlOf(token),
      status: record.oneOf('status', STATUSES),
      createdAt: record.date('createdAt'),
    };
    this.#index({
      request,
      link,
      created: JSON.stringify(toCreatedLink({ ...link, status: 'pending' })),
      key: record.has('key') ? record.text('key') : undefined,
      pages: new Set(record.texts('pages')),
    });
  }

  #forgetOldest(): void {
    const { assumed, store } = this.#options;
    if (this.#entries.size <= assumed.linksKept) return;
    const oldest = this.#entries.values().next().value!;
    const { token, reference } = oldest.link;
    const others = this.#byReference.get(reference)!.filter((entry) => entry !== oldest);
    this.#entries.delete(token);
    this.#byReference.set(reference, others);
    if (others.length === 0) this.#byReference.delete(reference);
    if (this.#byKey.get(oldest.key) === oldest) this.#byKey.delete(oldest.key);
    store.remove(KIND, token);
  }
}

function toCreation({ link, created }: Entry, status: Creation['status']): Creation {
  return { status, body: created, token: link.token };
}
