import { inspect } from 'node:util';
import { toVisible } from './visible-text.js';

/**
 * Prints an error that no caller awaits: an error from a function under `assumed`, or a bug in the
 * emulator.
 */
export function report(error: unknown): void {
  console.error(`[paylink emulator] ${toVisible(inspect(error), '\n')}`);
}

/** Calls the user's function. Prints its error, which changes nothing. */
export function reportErrorsOf(call: () => void): void {
  try {
    call();
  } catch (error) {
    report(error);
  }
}
