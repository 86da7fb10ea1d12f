import { inspect } from 'node:util';
import { toTerminal } from './visible-text.js';

/**
 * Prints an error that no caller awaits: an error of a function under `assumed`, or a bug of the
 * emulator.
 */
export function report(error: unknown): void {
  console.error(`[paylink emulator] ${toTerminal(inspect(error))}`);
}

export function warn(message: string): void {
  console.warn(`[paylink emulator] ${toTerminal(message)}`);
}
