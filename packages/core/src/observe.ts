/** What came of one delivery. Every field but `reference` comes from a fixed set or is a number, so they fit metrics. */
export interface DeliveryOutcome {
  /**
   * `handled`: the handler is done, or the gate handed the event on. `duplicate`: it was done before. `ignored`: signed, and
   * not for us. `rejected`: refused for what was sent. `failed`: refused for a fault on this side, so worth a retry.
   */
  readonly outcome: 'handled' | 'duplicate' | 'ignored' | 'rejected' | 'failed';
  /** The error's code; on `handled`, the contradiction of a signed status that `confirm` overruled. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`; only where the signature was right. */
  readonly type?: string;
  /** Only where the signature was right. */
  readonly reference?: string;
  readonly secretIndex?: number;
  readonly bodyBytes: number;
  readonly durationMs: number;
}

export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

/** Gathers one delivery's outcome on its way, and reports it once. */
export class Observation {
  readonly #hook: ObserveHook | undefined;
  readonly #started: number;
  readonly #facts: Omit<DeliveryOutcome, 'outcome' | 'durationMs'> & { bodyBytes: number } = { bodyBytes: 0 };

  constructor(hook: ObserveHook | undefined) {
    this.#hook = hook;
    this.#started = hook === undefined ? 0 : performance.now();
  }

  note(facts: Partial<Omit<DeliveryOutcome, 'outcome' | 'durationMs'>>): void {
    if (this.#hook !== undefined) Object.assign(this.#facts, facts);
  }

  report(outcome: DeliveryOutcome['outcome'], code?: string): void {
    if (this.#hook === undefined) return;
    try {
      const durationMs = performance.now() - this.#started;
      const result: unknown = this.#hook({ outcome, ...this.#facts, ...(code === undefined ? {} : { code }), durationMs });
      // An async hook's rejection would be nobody's.
      Promise.resolve(result).catch(() => undefined);
    } catch {
      // Whoever watches must not change what is watched.
    }
  }
}
