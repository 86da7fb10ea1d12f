/** The work that one diagnosis may do: any sender can cause this work. */
export interface Budget {
  /** Maximum sizes in bytes of a body to hash, to decode as text, and to parse and rewrite. */
  readonly body: number;
  readonly text: number;
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
  /** Bytes and milliseconds between two pauses. */
  readonly slice: number;
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
