import { inspect } from 'node:util';
import { toVisible } from './visible-text.js';

/**
 * Prints an error that no caller awaits: an error of a function under `assumed`, or a bug of the
 * emulator.
 */
export function report(error: unknown): void {
  console.error(`[paylink emulator] ${toVisible(inspect(error), '\n')}`);
}

/** Wraps a listener of the user: its errors are printed, and change nothing. */
export function guarded<Facts extends unknown[]>(
  listener: (...facts: Facts) => void,
): (...facts: Facts) => void {
  return (...facts) => {
    try {
      listener(...facts);
    } catch (error) {
      report(error);
    }
  };
}
