import { inspect } from 'node:util';
import { toTerminal } from './visible-text.js';

/**
 * Writes an error that no caller awaits to the console: of a function under `assumed`, or a fault
 * of ours.
 */
export function report(error: unknown): void {
  console.error(`[paylink emulator] ${toTerminal(inspect(error))}`);
}

export function warn(message: string): void {
  console.warn(`[paylink emulator] ${toTerminal(message)}`);
}
