/** Checks for every test: no uncaught error, no secret in an output, no change of the process. */
import { format } from 'node:util';
import { afterAll, beforeEach, expect, vi } from 'vitest';
import { forgetSecrets, secretIn } from './secrets.js';

const printed: string[] = [];
const uncaught: unknown[] = [];
const prototypeKeys = Object.getOwnPropertyNames(Object.prototype).join();

const note = (error: unknown): void => void uncaught.push(error);
/** Watches the tests of a file. */
export function watch(): void {
  process.on('unhandledRejection', note).on('uncaughtException', note);
  // Node warns about leaked listeners.
  process.on('warning', note);
  afterAll(() => {
    process.off('unhandledRejection', note).off('uncaughtException', note).off('warning', note);
  });

  beforeEach(() => {
    forgetSecrets();
    printed.length = 0;
    uncaught.length = 0;
    for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation(
        (...values: unknown[]) => void printed.push(format(...values)),
      );
    }
  });
}

/** Returns the test's output so far. */
export function log(): string {
  return printed.join('\n');
}

export function expectNoSecretIn(output: string): void {
  const secret = secretIn(output);
  if (secret !== undefined)
    expect.fail(`the output holds ${secret.slice(0, 200)}:\n${output.slice(0, 2_000)}`);
}

export function expectNothingAmiss(): void {
  expect(uncaught).toEqual([]);
  expectNoSecretIn(log());
  expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(prototypeKeys);
  expect((Object.create(Object.prototype) as Record<string, unknown>)['polluted']).toBeUndefined();
}
