import type { Assumed } from '../assumed.js';
import type { Random } from '../random.js';
import { fromJson, toJson } from '../state/json.js';
import type { Store } from '../state/state-file.js';
import {
  toCreatedLink,
  toPayment,
  type Link,
  type LinkRequest,
  type Payment,
  type PaymentStatus,
  type Price,
  type StatusChange,
} from './payment.js';
import { ServiceError } from '../api/service-error.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

type OwnLink = Omit<Mutable<Link>, 'history'> & { readonly history: StatusChange[] };

interface Entry {
  readonly link: OwnLink;
  /** The body of the 201, kept for a repeated key. */
  readonly created: string;
  readonly key: string | undefined;
  readonly fingerprint: string;
  /** Pages that have already paid: a double click must not pay twice. */
  readonly pages: Set<string>;
}

/** The form of an entry in the state file. */
interface KeptEntry extends Pick<Entry, 'key' | 'fingerprint'> {
  readonly link: OwnLink;
  readonly pages: string[];
}

export interface LedgerOptions {
  readonly assumed: Assumed;
  readonly payUrl: string;
  readonly random: Random;
  readonly store: Store;
  /** Called once per successful payment. */
  readonly onSuccess: (link: Link) => void;
  readonly onChange: () => void;
}

/**
 * The outcome of an attempt to pay. `repeated`: the page was sent twice, or the single-use link is
 * paid.
 */
export type PayOutcome = 'paid' | 'repeated' | 'refused';

export interface Creation {
  readonly status: 200 | 201;
  readonly body: string;
  readonly token: string;
}

const REFUSALS = {
  refuse: 'idempotency_conflict',
  in_flight: 'idempotency_in_flight',
  unprocessable: 'idempotency_mismatch',
  fail: 'replay_failed',
} as const;

// Enough for every page that a customer can have open.
const PAGES_KEPT = 100;
const KIND = 'link';
const HISTORY_KEPT = 100;

/** Keeps links, their payments, and the idempotency keys of their requests. */
export class Ledger {
  readonly #assumed: Assumed;
  readonly #payUrl: string;
  readonly #random: Random;
  readonly #store: Store;
  readonly #onSuccess: (link: Link) => void;
  readonly #onChange: () => void;
  readonly #byToken = new Map<string, Entry>();
  readonly #byReference = new Map<string, Entry[]>();
  readonly #byKey = new Map<string, Entry>();

  constructor({ assumed, payUrl, random, store, onSuccess, onChange }: LedgerOptions) {
    this.#assumed = assumed;
    this.#payUrl = payUrl;
    this.#random = random;
    this.#store = store;
    this.#onSuccess = onSuccess;
    this.#onChange = onChange;
    for (const kept of store.read(KIND).values()) this.#restore(fromJson(kept) as KeptEntry);
  }

  /**
   * Creates a link, or returns the link of the same key.
   *
   * @throws ServiceError `idempotency_conflict` or `reference_taken`, depending on `assumed`
   */
  create(request: LinkRequest, key: string | undefined): Creation {
    const fingerprint = JSON.stringify(request);
    const earlier = key === undefined ? undefined : this.#replay(key, fingerprint);
    if (earlier !== undefined) return earlier;
    if (this.#assumed.duplicateReference === 'refuse' && this.#byReference.has(request.reference)) {
      throw new ServiceError(
        'reference_taken',
        'another payment link has this reference',
        'reference',
      );
    }
    return toCreation(this.#add(request, key, fingerprint), 201);
  }

  find(token: string): Link | undefined {
    return this.#byToken.get(token)?.link;
  }

  /** Returns every link, newest first. */
  list(): Link[] {
    return Array.from(this.#byToken.values(), ({ link }) => link).reverse();
  }

  /** Finds the paid link of a reference, otherwise the newest link. */
  findByReference(reference: string): Link | undefined {
    const links = this.#byReference.get(reference)?.map(({ link }) => link);
    return links?.find(({ status }) => status === 'success') ?? links?.at(-1);
  }

  /** Returns the payment of a link in the API's form. */
  paymentOf(link: Link): Payment {
    return toPayment(link, this.#assumed.amountBeforeChoice);
  }

  /** Records a success at most once per page, and at most once in total for a single-use link. */
  pay(token: string, amount: number, sentFrom?: string): PayOutcome {
    const entry = this.#entry(token);
    const { link, pages } = entry;
    const page = sentFrom ?? this.#newPage(pages);
    if (pages.has(page)) return 'repeated';
    const again = link.status === 'success';
    if (again && link.singleUse) return 'repeated';
    if (!again && !this.allows(link, 'success')) return 'refused';
    pages.add(page);
    if (pages.size > PAGES_KEPT) pages.delete(pages.values().next().value!);
    link.amount = amount;
    // Writes the payment and its notification together: a kill between them would leave a payment
    // without a notification.
    this.#store.together(() => {
      this.#turn(entry, 'success');
      this.#onSuccess({ ...link });
    });
    return 'paid';
  }

  /**
   * Records that the customer cancelled or that the payment failed. Returns true if the payment now
   * has this status.
   */
  settle(token: string, status: 'failed' | 'cancelled'): boolean {
    const entry = this.#entry(token);
    const { link } = entry;
    if (!this.allows(link, status)) return link.status === status;
    this.#turn(entry, status);
    return true;
  }

  /**
   * Returns true if the customer can pay: at first, after a failure, and repeatedly for a reusable
   * link.
   */
  isPayable(link: Link): boolean {
    return this.allows(link, 'success') || (link.status === 'success' && !link.singleUse);
  }

  /** Returns true if the payment can change to this status. */
  allows(link: Link, status: PaymentStatus): boolean {
    return this.#assumed.transitions[link.status].includes(status);
  }

  reset(): void {
    this.#byToken.clear();
    this.#byReference.clear();
    this.#byKey.clear();
    this.#onChange();
  }

  #turn(entry: Entry, status: PaymentStatus): void {
    const { link } = entry;
    link.status = status;
    link.history.push({
      at: new Date(),
      status,
      ...(link.amount === undefined ? {} : { amount: link.amount }),
    });
    if (link.history.length > HISTORY_KEPT) link.history.shift();
    this.#keep(entry);
    this.#onChange();
  }

  /** Skips used pages: after a restart, a seed repeats the pages that a kept link already knows. */
  #newPage(used: ReadonlySet<string>): string {
    let page: string;
    do page = this.#random.uuid('page');
    while (used.has(page));
    return page;
  }

  #newToken(): string {
    let token: string;
    do token = this.#random.bytes('token', 18).toString('base64url');
    while (this.#byToken.has(token));
    return token;
  }

  #entry(token: string): Entry {
    const entry = this.#byToken.get(token);
    if (entry === undefined)
      throw new ServiceError('not_found', 'this payment link does not exist');
    return entry;
  }

  #replay(key: string, fingerprint: string): Creation | undefined {
    const earlier = this.#byKey.get(key);
    if (earlier === undefined) return undefined;
    const same = earlier.fingerprint === fingerprint;
    const choice = same ? this.#assumed.replayedKey : this.#assumed.replayedKeyOtherBody;
    if (choice === 'ignore') return undefined;
    if (choice === 'same_link') return toCreation(earlier, 201);
    if (choice === 'same_link_200') return toCreation(earlier, 200);
    throw new ServiceError(
      REFUSALS[choice],
      same
        ? 'this Idempotency-Key was used before'
        : 'this Idempotency-Key was used for another request',
    );
  }

  #add(request: LinkRequest, key: string | undefined, fingerprint: string): Entry {
    const token = this.#newToken();
    const createdAt = new Date();
    const link: OwnLink = {
      ...request,
      ...fixedAmount(request.price),
      token,
      url: `${this.#payUrl}/link/${token}`,
      status: 'pending',
      createdAt,
      history: [{ at: createdAt, status: 'pending' }],
    };
    const entry: Entry = {
      link,
      created: JSON.stringify(toCreatedLink(link)),
      key,
      fingerprint,
      pages: new Set(),
    };
    this.#index(entry);
    this.#keep(entry);
    this.#forgetOldest();
    this.#onChange();
    return entry;
  }

  #index(entry: Entry): void {
    const { link, key } = entry;
    this.#byToken.set(link.token, entry);
    this.#byReference.set(link.reference, [
      ...(this.#byReference.get(link.reference) ?? []),
      entry,
    ]);
    if (key !== undefined) this.#byKey.set(key, entry);
  }

  #keep({ link, key, fingerprint, pages }: Entry): void {
    this.#store.put(KIND, link.token, toJson({ link, key, fingerprint, pages: [...pages] }));
  }

  #restore({ link, key, fingerprint, pages }: KeptEntry): void {
    // The port may have changed since.
    link.url = `${this.#payUrl}/link/${link.token}`;
    const created = JSON.stringify(toCreatedLink({ ...link, status: 'pending' }));
    this.#index({ link, created, key, fingerprint, pages: new Set(pages) });
  }

  #forgetOldest(): void {
    if (this.#byToken.size <= this.#assumed.linksKept) return;
    const [token, oldest] = this.#byToken.entries().next().value!;
    this.#byToken.delete(token);
    this.#store.remove(KIND, token);
    const { reference } = oldest.link;
    const others = this.#byReference.get(reference)!.filter((entry) => entry !== oldest);
    if (others.length === 0) this.#byReference.delete(reference);
    else this.#byReference.set(reference, others);
    if (oldest.key !== undefined && this.#byKey.get(oldest.key) === oldest)
      this.#byKey.delete(oldest.key);
  }
}

function toCreation({ link, created }: Entry, status: Creation['status']): Creation {
  return { status, body: created, token: link.token };
}

function fixedAmount(price: Price): { amount?: number } {
  return 'amount' in price ? { amount: price.amount } : {};
}
