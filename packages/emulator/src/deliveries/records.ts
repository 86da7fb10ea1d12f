import { randomUUID } from 'node:crypto';
import { restoreAll, type StoredRecord } from '../state/record.js';
import type { Store } from '../state/state-file.js';
import type { DeliveryAttempt, EmulatorDelivery } from './delivery.js';

/** A delivery as the outbox works on it. */
export interface Entry {
  readonly id: string;
  readonly reference: string;
  /** The body of the notification, which every attempt signs and sends. */
  readonly body: string;
  readonly createdAt: Date;
  /** The newest attempts of this run. */
  readonly attempts: DeliveryAttempt[];
  state: EmulatorDelivery['state'];
  /** The number of started attempts, and of failures, which lengthen the next wait. */
  started: number;
  failures: number;
  next?: { readonly timer: NodeJS.Timeout; readonly at: Date } | undefined;
}

export interface RecordsOptions {
  readonly store: Store;
  readonly url: string;
  /** The most ended deliveries. */
  readonly deliveriesKept: number;
}

const KIND = 'delivery';
const STATES = ['pending', 'delivered', 'unsent'] as const;

/** Keeps the deliveries, in the memory and in the state file. Forgets the oldest ended ones. */
export class DeliveryRecords {
  readonly #options: RecordsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /**
   * Reads the deliveries of earlier runs.
   *
   * @param resume called for each pending delivery, with the time of its next attempt
   * @throws ConfigurationError for a wrong record of the store
   */
  restore(resume: (entry: Entry, at: Date | undefined) => void): void {
    const pending: [Entry, Date | undefined][] = [];
    restoreAll(this.#options.store, KIND, (record, id) => {
      const entry = toEntry(record, id);
      const at = record.has('nextAttemptAt') ? record.date('nextAttemptAt') : undefined;
      this.#entries.set(id, entry);
      if (entry.state === 'pending') pending.push([entry, at]);
    });
    for (const [entry, at] of pending) resume(entry, at);
  }

  add(reference: string, body: string): Entry {
    const entry: Entry = {
      id: randomUUID(),
      reference,
      body,
      createdAt: new Date(),
      attempts: [],
      state: 'pending',
      started: 0,
      failures: 0,
    };
    this.#entries.set(entry.id, entry);
    return entry;
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  /** Returns the entries, oldest first. */
  all(): Entry[] {
    return [...this.#entries.values()];
  }

  /** Writes an entry to the state file, unless the entry was forgotten. */
  save(entry: Entry): void {
    const { id, reference, body, createdAt, state, started, failures, next } = entry;
    if (this.#entries.get(id) !== entry) return;
    const record = {
      reference,
      body,
      createdAt,
      state,
      started,
      failures,
      nextAttemptAt: next?.at,
    };
    this.#options.store.put(KIND, id, record);
    if (state !== 'pending') this.#forgetOldest();
  }

  clear(): void {
    this.#entries.clear();
  }

  snapshot({ id, reference, createdAt, state, started, attempts, next }: Entry): EmulatorDelivery {
    return {
      id,
      event: 'payment.succeeded',
      reference,
      url: this.#options.url,
      createdAt,
      state,
      attemptCount: started,
      attempts: [...attempts],
      ...(next === undefined ? {} : { nextAttemptAt: next.at }),
    };
  }

  #forgetOldest(): void {
    const ended = this.all().filter(({ state }) => state !== 'pending');
    if (ended.length <= this.#options.deliveriesKept) return;
    const { id } = ended[0]!;
    this.#entries.delete(id);
    this.#options.store.remove(KIND, id);
  }
}

/** @throws Error that names the wrong field */
function toEntry(record: StoredRecord, id: string): Entry {
  return {
    id,
    reference: record.text('reference'),
    body: record.text('body'),
    createdAt: record.date('createdAt'),
    attempts: [],
    state: record.oneOf('state', STATES),
    started: record.whole('started'),
    failures: record.whole('failures'),
  };
}
