/** How a reference stood. `in_progress`: the webhook is handling it at this moment. */
export type ReconcileOutcome = 'credited' | 'duplicate' | 'in_progress' | 'pending' | 'failed' | 'cancelled' | 'unknown';

export type ReconcileResult =
  | { readonly reference: string; readonly outcome: ReconcileOutcome }
  | { readonly reference: string; readonly outcome: 'error'; readonly error: unknown };

/** What has become of the references, each of which is in one of the lists. */
export interface ReconcileReport {
  /** How many references there were. */
  readonly total: number;
  /** Paid, and `onSuccess` ran now. */
  readonly credited: readonly string[];
  /** Credited before, by the webhook or an earlier run. */
  readonly duplicates: readonly string[];
  /** Paid, and the webhook or another run is at it at this moment: the next run finds it done, or does it. */
  readonly inProgress: readonly string[];
  readonly pending: readonly string[];
  readonly failed: readonly string[];
  readonly cancelled: readonly string[];
  /** In a status that the contract does not show. */
  readonly unknown: readonly string[];
  /** Not credited, for the reason given: what `onSuccess` threw, or a PaylinkError. */
  readonly errors: readonly { readonly reference: string; readonly error: unknown }[];
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
  #total = 0;

  add(result: ReconcileResult): void {
    this.#total++;
    if (result.outcome === 'error') this.#errors.push({ reference: result.reference, error: result.error });
    else this.#of[result.outcome].push(result.reference);
  }

  lists(): ReconcileReport {
    const { duplicate: duplicates, in_progress: inProgress, ...lists } = this.#of;
    return { total: this.#total, ...lists, duplicates, inProgress, errors: this.#errors };
  }
}
