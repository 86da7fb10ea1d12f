/**
 * The work that one diagnosis may do. Any sender can cause this work, so the diagnosis never
 * exceeds the limits.
 */
export interface Budget {
  /** Maximum size in bytes of a body to hash. */
  readonly body: number;
  /** Maximum size in bytes of a body to decode as text. */
  readonly text: number;
  /** Maximum size in bytes of a body to parse and reserialise. */
  readonly parsed: number;
  /**
   * Takes this number of written and hashed bytes from the budget, and pauses if other work must
   * run first. Resolves with false once the budget is used up.
   */
  take(bytes: number): Promise<boolean>;
}

export interface Limits extends Omit<Budget, 'take'> {
  /** Bytes to write and hash in total. */
  readonly bytes: number;
  /** Bytes to write and hash between two pauses. */
  readonly slice: number;
  /** Milliseconds between two pauses. */
  readonly sliceTime: number;
  /** Pauses. Gets the milliseconds of the last slice. */
  readonly rest: (used: number) => Promise<void>;
}

// The fixed cost of one attempt in bytes: a key, an encoding, two calls.
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
      // Counts bytes too, because the clock of a Worker stands still while code runs.
      if (used >= sliceTime || inSlice > slice) {
        await rest(used);
        inSlice = cost;
        since = performance.now();
      }
      return true;
    },
  };
}

export function pause(
  milliseconds: number,
  { keepsProcess }: { readonly keepsProcess: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    // Only Node's timers keep a process alive, and only Node's timers have `unref`.
    if (!keepsProcess) (timer as { unref?: () => void }).unref?.();
  });
}
