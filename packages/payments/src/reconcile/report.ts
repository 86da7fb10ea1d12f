import { cursorAt, type Item } from './references.js';

/** How far a run has come. */
export interface ReconcileProgress {
  /** References that have ended. */
  readonly ended: number;
  /** Number of references, if `references` is an array. */
  readonly total: number | undefined;
  readonly credited: number;
  readonly errors: number;
  /** Milliseconds of a pause that begins now because the service asked for it. */
  readonly pause?: number;
  /** The next run starts here if you end this run now. */
  readonly cursor: string | undefined;
}

/** A reference whose order was not credited, and why. */
export type FailedOrder = Readonly<{ reference: string; error: unknown }>;

/** The findings of the run. Each reference is in one of the lists. */
export interface ReconcileReport {
  /** References that were read. */
  readonly total: number;
  /** Paid, and credited by this run. */
  readonly credited: readonly string[];
  /** Credited before, or `credit` returned `already_credited`. */
  readonly duplicates: readonly string[];
  /** Paid, and another run credits it at this moment. */
  readonly inProgress: readonly string[];
  readonly pending: readonly string[];
  readonly failed: readonly string[];
  readonly cancelled: readonly string[];
  /** Not credited: an error of `credit`, the store or the client. */
  readonly errors: readonly FailedOrder[];
  /** Given again: two orders have one reference, and one payment cannot pay both. */
  readonly repeated: readonly string[];
  /** Not reached before the deadline or a refused key: all of an array, else those read. */
  readonly notAsked: readonly string[];
  /** The service refused the key with 401, so the run ended. */
  readonly keyRefused: boolean;
  /** Store it, and give it to the next run. Undefined if every reference was asked. */
  readonly cursor: string | undefined;
}

/** How a reference ended: the list that it belongs to, or its error. */
export type Result = keyof Lists | { readonly error: unknown };

type Lists = Omit<ReconcileReport, 'total' | 'errors' | 'keyRefused' | 'cursor'>;

/** The lists of a report as they grow. */
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

  /** References are left that the run has not read: the next run starts at the last one. */
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

  /** At or before every reference that has not ended. */
  #cursor(): string | undefined {
    let first = this.#isUnread ? this.#last : undefined;
    for (const item of [...this.#underWay, ...this.#lists.notAsked]) {
      if (first === undefined || item.order < first.order) first = item;
    }
    return first && cursorAt(first);
  }
}
