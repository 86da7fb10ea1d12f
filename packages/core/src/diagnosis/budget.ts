/** How much one diagnosis may try. Any sender of a body can cause this work, so every bound is a hard one. */
export interface Budget {
  /** Bytes of the longest body that is hashed. */
  readonly body: number;
  /** Bytes of the longest body that is decoded as text. */
  readonly text: number;
  /** Bytes of the longest body that is parsed, to write it again in other ways. */
  readonly parsed: number;
  /**
   * Takes so many bytes of writing and hashing out of the budget, and waits where other work must run first. Gives false once
   * the budget is used up.
   */
  take(bytes: number): Promise<boolean>;
}

export interface Limits extends Omit<Budget, 'take'> {
  /** Bytes written and hashed in all. */
  readonly bytes: number;
  /** Bytes written and hashed at once, without a pause. */
  readonly slice: number;
  /** Milliseconds without a pause. */
  readonly sliceTime: number;
  /** Waits, given the milliseconds that were just used. */
  readonly rest: (used: number) => Promise<void>;
}

// The fixed cost of an attempt, in bytes: a key, an encoding, two calls.
const ATTEMPT = 512;

export function createBudget({ bytes, slice, sliceTime, rest, ...bounds }: Limits): Budget {
  let left = bytes;
  let inSlice = 0;
  let since = performance.now();
  return {
    ...bounds,
    async take(wanted) {
      const cost = wanted + ATTEMPT;
      left -= cost;
      if (left < 0) return false;
      inSlice += cost;
      const used = performance.now() - since;
      // By the bytes as well: in a Worker the clock stands still while code runs.
      if (used >= sliceTime || inSlice > slice) {
        await rest(used);
        inSlice = cost;
        since = performance.now();
      }
      return true;
    },
  };
}

/** Resolves in a later turn of the event loop. */
export function pause(
  milliseconds: number,
  { keepsProcess }: { readonly keepsProcess: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    // Only Node's timers keep a process, and only they have this.
    if (!keepsProcess) (timer as { unref?: () => void }).unref?.();
  });
}
