/**
 * Limits that pass on demand: on a busy machine, a real limit could strike before the limited work
 * begins.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** Milliseconds that a receiver and Hono's server keep reading after a reply. */
export const LINGERS = [1_000, 500];

/** The longest timer of Node. */
const FOREVER = 2 ** 31 - 1;

export interface HeldLimits extends Disposable {
  /** Resolves with the limits of this length when `count` of them run. */
  running(milliseconds: number, count: number): Promise<readonly NodeJS.Timeout[]>;
  /** Passes the running limits of this length. */
  pass(milliseconds: number): void;
  /** Also passes later limits of this length, at once. */
  release(milliseconds: number): void;
}

/** Holds the timers and signals of these lengths. Others run normally. */
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
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const aborting = vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    if (!lengths.includes(milliseconds)) return timeout(milliseconds);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), milliseconds);
    return controller.signal;
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
      aborting.mockRestore();
      for (const timer of held.keys()) clear(timer);
    },
  };
}
