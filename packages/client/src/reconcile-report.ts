import { cursorAt, type Item } from './reference-order.js';

/** How a reference stood. `in_progress`: the webhook is handling it at this moment. */
export type ReconcileOutcome = 'credited' | 'duplicate' | 'in_progress' | 'pending' | 'failed' | 'cancelled' | 'unknown';

export type ReconcileResult =
  | { readonly reference: string; readonly outcome: ReconcileOutcome }
  | { readonly reference: string; readonly outcome: 'error'; readonly error: unknown };

/** How far a run has come. */
export interface ReconcileProgress {
  /** References that have ended. */
  readonly ended: number;
  /** How many references there are, where `references` is an array. */
  readonly total: number | undefined;
  readonly credited: number;
  readonly errors: number;
  /** Milliseconds of a pause that the service asked for and that begins now. */
  readonly pause?: number;
  /** Where the next run starts if this one is killed now. */
  readonly cursor: string | undefined;
}

/** What has become of the references, each of which is in one of the lists. */
export interface ReconcileReport {
  /** How many references there were, as far as they were read. */
  readonly total: number;
  /** Paid, and `onSuccess` ran now. */
  readonly credited: readonly string[];
  /** Credited before, by the webhook or an earlier run. */
  readonly duplicates: readonly string[];
  /** Paid, and the webhook or another run handles it at this moment: the next run finds it done, or credits it. */
  readonly inProgress: readonly string[];
  readonly pending: readonly string[];
  readonly failed: readonly string[];
  readonly cancelled: readonly string[];
  /** In a status that the contract does not show. */
  readonly unknown: readonly string[];
  /** Not credited, for the reason given: what `onSuccess` threw, or a PaylinkError. */
  readonly errors: readonly { readonly reference: string; readonly error: unknown }[];
  /** Not asked, because the run's `deadline` was over or the service's rate limit outlasts it. Of an array all of them, else those that were read. */
  readonly notAsked: readonly string[];
  /** Where the next run is to start: store it, and give it as `cursor`. Undefined when every reference was asked. */
  readonly cursor: string | undefined;
}

/** The lists of a report as they grow. */
export class Report {
  readonly #of: Record<ReconcileOutcome, string[]> = {
    credited: [],
    duplicate: [],
    in_progress: [],
    pending: [],
    failed: [],
    cancelled: [],
    unknown: [],
  };
  readonly #errors: { readonly reference: string; readonly error: unknown }[] = [];
  readonly #notAsked: Item[] = [];
  readonly #underWay = new Set<Item>();
  #ended = 0;

  begin(item: Item): void {
    this.#underWay.add(item);
  }

  /** @param result nothing where the reference was not asked */
  end(item: Item, result: ReconcileResult | undefined): void {
    this.#underWay.delete(item);
    if (result === undefined) {
      this.#notAsked.push(item);
      return;
    }
    this.#ended++;
    if (result.outcome === 'error') this.#errors.push({ reference: result.reference, error: result.error });
    else this.#of[result.outcome].push(result.reference);
  }

  get isIncomplete(): boolean {
    return this.#notAsked.length > 0;
  }

  progress(total: number | undefined, pause?: number): ReconcileProgress {
    return {
      ended: this.#ended,
      total,
      credited: this.#of.credited.length,
      errors: this.#errors.length,
      ...(pause === undefined ? {} : { pause }),
      cursor: this.#cursor(),
    };
  }

  lists(): ReconcileReport {
    const { duplicate: duplicates, in_progress: inProgress, ...lists } = this.#of;
    const notAsked = this.#notAsked.map(({ reference }) => reference);
    const total = this.#ended + notAsked.length;
    return { total, ...lists, duplicates, inProgress, errors: this.#errors, notAsked, cursor: this.#cursor() };
  }

  /** Before everything that has not ended. */
  #cursor(): string | undefined {
    let first: Item | undefined;
    for (const item of [...this.#underWay, ...this.#notAsked]) {
      if (first === undefined || item.order < first.order) first = item;
    }
    return first && cursorAt(first);
  }
}
