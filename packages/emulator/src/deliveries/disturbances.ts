import { ConfigurationError } from '@paylink/core';
import { LONGEST_TIMER } from '../longest-timer.js';

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
    checkDisturbance(disturbance);
    const entry = { disturbance: { ...disturbance }, left: disturbance.count ?? Infinity };
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

/** @throws ConfigurationError that names the option */
export function checkDisturbance(disturbance: Disturbance): void {
  const fault = faultOf(disturbance);
  if (fault !== undefined) throw new ConfigurationError('disturb', fault);
}

function faultOf(disturbance: unknown): string | undefined {
  if (typeof disturbance !== 'object' || disturbance === null)
    return 'must be an object with a kind';
  const { kind, delay, count, reference } = disturbance as Disturbance;
  const unknown = Object.keys(disturbance).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined)
    return `has the unknown option ${unknown}. Valid options: ${KNOWN.join(', ')}`;
  if (!KINDS.includes(kind)) return `must have a kind of ${KINDS.join(', ')}`;
  if (delay !== undefined && !(Number.isInteger(delay) && delay >= 0 && delay <= LONGEST_TIMER)) {
    return `must have a delay of 0 to ${LONGEST_TIMER} whole milliseconds`;
  }
  if (count !== undefined && !(Number.isSafeInteger(count) && count > 0))
    return 'must have a count of 1 or more';
  if (reference !== undefined && typeof reference !== 'string')
    return 'must have a reference that is a string';
  return undefined;
}
