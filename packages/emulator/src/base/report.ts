import { inspect } from 'node:util';
import { toVisible } from './visible-text.js';

/** Prints an error of a function under `assumed`, or a bug: no caller awaits either. */
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
