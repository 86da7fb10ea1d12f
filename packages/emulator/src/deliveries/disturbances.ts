import { check, validateBound, validateOptions } from '@paylink/core/internal';

/** Changes notifications before a receiver sees them. */
export interface Disturbance {
  /**
   * `drop`: the emulator neither sends nor retries. `delay`: the first attempt starts after
   * `delay`. `reorder`: the first attempt waits until the next notification is first answered.
   */
  readonly kind: 'drop' | 'delay' | 'reorder';
  /** Milliseconds of a `delay`. Default 5,000. */
  readonly delay?: number | undefined;
  /** The number of affected notifications. Default: all. */
  readonly count?: number | undefined;
  /** Affects only notifications of this payment. */
  readonly reference?: string | undefined;
}

const KINDS = ['drop', 'delay', 'reorder'];
const KNOWN = ['kind', 'delay', 'count', 'reference'];
const DEFAULT_DELAY = 5_000;

export interface Disturbed {
  readonly kind: Disturbance['kind'];
  readonly delay: number;
}

export class Disturbances {
  readonly #inForce = new Set<{ readonly disturbance: Disturbance; left: number }>();

  /**
   * Adds a disturbance. Returns a function that removes it. @throws ConfigurationError that names
   * the option
   */
  add(disturbance: Disturbance): () => void {
    const own = validateDisturbance(disturbance);
    const entry = { disturbance: own, left: own.count ?? Infinity };
    this.#inForce.add(entry);
    return () => {
      this.#inForce.delete(entry);
    };
  }

  clear(): void {
    this.#inForce.clear();
  }

  /** Returns the oldest disturbance that matches a notification, and counts it. */
  take(reference: string): Disturbed | undefined {
    for (const entry of this.#inForce) {
      const { disturbance } = entry;
      if (disturbance.reference !== undefined && disturbance.reference !== reference) continue;
      if (--entry.left <= 0) this.#inForce.delete(entry);
      return { kind: disturbance.kind, delay: disturbance.delay ?? DEFAULT_DELAY };
    }
    return undefined;
  }
}

/**
 * Returns a copy of the own properties.
 *
 * @throws ConfigurationError that names the option
 */
export function validateDisturbance(disturbance: Disturbance): Disturbance {
  const own = validateOptions(disturbance, KNOWN, 'disturb');
  const { kind, delay, count, reference } = own;
  check(KINDS.includes(kind), 'kind', `must be one of ${KINDS.join(', ')}`);
  if (delay !== undefined) validateBound('delay', delay, 0);
  if (count !== undefined) validateBound('count', count, 1, Number.MAX_SAFE_INTEGER);
  const isReference = reference === undefined || typeof reference === 'string';
  check(isReference, 'reference', 'must be a string');
  return own;
}
