/** One check of the suite. */
export interface OrdersCheck {
  /** A sentence about `orders`. */
  readonly title: string;
  /** Rejects with the fault in one sentence. */
  readonly run: () => Promise<void>;
  /** The option that this check needs, if the option is missing. */
  readonly missing?: string | undefined;
}
