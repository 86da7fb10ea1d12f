import { cursorAt, type Item } from './references.js';

/** The progress of a run. */
export interface ReconcileProgress {
  /** Number of references that have ended. */
  readonly ended: number;
  /** Number of references, if `references` is an array. */
  readonly total: number | undefined;
  readonly credited: number;
  readonly errors: number;
  /** Milliseconds of a pause that begins now. Set if the service asked for a pause. */
  readonly pause?: number;
  /** The next run starts here if you end this run now. */
  readonly cursor: string | undefined;
}

/** A reference whose order was not credited, with the error. */
export type FailedOrder = Readonly<{ reference: string; error: unknown }>;

/** The findings of the run. Each reference is in exactly one list. */
export interface ReconcileReport {
  /** Number of references that the run read. */
  readonly total: number;
  /** Paid, and credited by this run. */
  readonly credited: readonly string[];
  /** Credited before, or `credit` returned `already_credited`. */
  readonly duplicates: readonly string[];
  /** Paid, and another run is crediting the order now. */
  readonly inProgress: readonly string[];
  readonly pending: readonly string[];
  readonly failed: readonly string[];
  readonly cancelled: readonly string[];
  /** Not credited: an error of `credit`, the store or the client. */
  readonly errors: readonly FailedOrder[];
  /** Listed again. Two orders share one reference, and one payment cannot pay both. */
  readonly repeated: readonly string[];
  /**
   * Not reached before the deadline or the rejection of the key. Contains the rest of an array, or
   * the references that the run had read.
   */
  readonly notAsked: readonly string[];
  /** True if the service rejected the key with 401. The run then ended. */
  readonly keyRefused: boolean;
  /**
   * Store the cursor, and pass it to the next run. Undefined if the run asked for every reference.
   */
  readonly cursor: string | undefined;
}

/** The outcome of a reference: the name of its list, or its error. */
export type Result = keyof Lists | { readonly error: unknown };

type Lists = Omit<ReconcileReport, 'total' | 'errors' | 'keyRefused' | 'cursor'>;

/** Collects the lists of a report. */
export class Report {
  readonly #lists: Record<keyof Lists, Item[]> = {
    credited: [],
    duplicates: [],
    inProgress: [],
    pending: [],
    failed: [],
    cancelled: [],
    repeated: [],
    notAsked: [],
  };
  readonly #errors: FailedOrder[] = [];
  readonly #underWay = new Set<Item>();
  #last: Item = { reference: '', index: 0, order: -1 };
  #isUnread = false;
  #total = 0;

  begin(item: Item): void {
    this.#underWay.add(item);
    if (item.order > this.#last.order) this.#last = item;
  }

  /** Records that the run left references unread. The next run then starts at the last one read. */
  leaveUnread(): void {
    this.#isUnread = true;
  }

  end(item: Item, result: Result): void {
    this.#underWay.delete(item);
    this.#total++;
    if (typeof result === 'string') this.#lists[result].push(item);
    else this.#errors.push({ reference: item.reference, error: result.error });
  }

  get isIncomplete(): boolean {
    return this.#lists.notAsked.length > 0;
  }

  progress(total: number | undefined, pause?: number): ReconcileProgress {
    const { credited, notAsked } = this.#lists;
    return {
      ended: this.#total - notAsked.length,
      total,
      credited: credited.length,
      errors: this.#errors.length,
      ...(pause !== undefined && { pause }),
      cursor: this.#cursor(),
    };
  }

  lists(keyRefused: boolean): ReconcileReport {
    const lists = Object.entries(this.#lists).map(([name, items]) => {
      return [name, items.map(({ reference }) => reference)] as const;
    });
    const named = Object.fromEntries(lists) as unknown as Lists;
    const cursor = this.#cursor();
    return { total: this.#total, ...named, errors: this.#errors, keyRefused, cursor };
  }

  /** Returns a cursor at or before every reference that has not ended. */
  #cursor(): string | undefined {
    let first = this.#isUnread ? this.#last : undefined;
    for (const item of [...this.#underWay, ...this.#lists.notAsked]) {
      if (first === undefined || item.order < first.order) first = item;
    }
    return first && cursorAt(first);
  }
}
