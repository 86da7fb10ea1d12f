/** One check of the suite. */
export interface OrdersCheck {
  /** A sentence about `orders`. */
  readonly title: string;
  /** Rejects with the fault in one sentence. */
  readonly run: () => Promise<void>;
  /** Why this check cannot run, such as the option that it needs. */
  readonly untested?: string | undefined;
}
