/** One check of the suite. */
export interface OrdersCheck {
  /** A sentence about `orders`. */
  readonly title: string;
  /** Rejects with the fault in one sentence, or with `NotTested`. */
  readonly run: () => Promise<void>;
  /** Why this check cannot run, such as the option that it needs. */
  readonly untested?: string | undefined;
}

/** A running check found that this database cannot show the fault. The message says why. */
export class NotTested extends Error {}

/** Returns a check that is reported as not tested. */
export function untestedCheck(title: string, untested: string): OrdersCheck {
  return { title, untested, run: () => Promise.resolve() };
}
