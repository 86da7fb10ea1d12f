/**
 * Limits that pass when a test says so: on a busy machine one would strike before what it is to
 * limit has begun.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** No timer of Node runs longer. */
const FOREVER = 2 ** 31 - 1;

export interface HeldLimits extends Disposable {
  /** Resolves with the limits of this length once so many run. */
  running(milliseconds: number, count: number): Promise<readonly NodeJS.Timeout[]>;
  /** Lets those of this length pass that run. */
  pass(milliseconds: number): void;
  /** Lets also those of this length pass that begin later, at once. */
  release(milliseconds: number): void;
}

/** Holds the timers of these lengths. Every other one runs as it does. */
export function holdLimits(...lengths: readonly number[]): HeldLimits {
  const lasting = new Set(lengths);
  const held = new Map<
    NodeJS.Timeout,
    { readonly milliseconds: number; readonly strike: () => unknown }
  >();
  const running = (milliseconds: number) =>
    [...held].filter(([, limit]) => limit.milliseconds === milliseconds);
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const setting = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    work: (...values: unknown[]) => unknown,
    milliseconds = 0,
    ...values: unknown[]
  ) => {
    if (!lasting.has(milliseconds))
      return set(work, lengths.includes(milliseconds) ? 0 : milliseconds, ...values);
    const timer = set(work, FOREVER);
    held.set(timer, { milliseconds, strike: () => work(...values) });
    return timer;
  }) as typeof setTimeout);
  const clearing = vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    held.delete(timer as NodeJS.Timeout);
    clear(timer);
  });
  const pass = (milliseconds: number): void => {
    for (const [timer, { strike }] of running(milliseconds)) {
      clearTimeout(timer);
      strike();
    }
  };
  return {
    async running(milliseconds, count) {
      for (;;) {
        const limits = running(milliseconds);
        if (limits.length === count) return limits.map(([timer]) => timer);
        await turn();
      }
    },
    pass,
    release(milliseconds) {
      lasting.delete(milliseconds);
      pass(milliseconds);
    },
    [Symbol.dispose]() {
      setting.mockRestore();
      clearing.mockRestore();
      for (const timer of held.keys()) clear(timer);
    },
  };
}
