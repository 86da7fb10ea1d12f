import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget, pause } from '../../src/diagnosis/budget.js';

// Beside its bytes each attempt costs 512.
const ATTEMPT = 512;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function budgetOf(limits: { readonly bytes?: number; readonly slice?: number; readonly sliceTime?: number }) {
  const rest = vi.fn((_used: number) => Promise.resolve());
  const bounds = { body: 1, text: 2, parsed: 3, depth: 4 };
  const budget = createBudget({ ...bounds, bytes: 1e9, slice: 1e9, sliceTime: 1e9, rest, ...limits });
  return { budget, rest };
}

describe('a budget', () => {
  it('has the bounds that it was given', () => {
    expect(budgetOf({}).budget).toMatchObject({ body: 1, text: 2, parsed: 3, depth: 4 });
  });

  it('is used up by bytes and by attempts, to its last byte and no further', async () => {
    const { budget } = budgetOf({ bytes: 2 * ATTEMPT + 100 });
    expect(await budget.take(60)).toBe(true);
    expect(await budget.take(40)).toBe(true);
    expect(await budget.take(0)).toBe(false);
    const small = budgetOf({ bytes: ATTEMPT + 99 });
    expect(await small.budget.take(100)).toBe(false);
  });

  it('rests where a slice has had its bytes, and begins a slice with what was wanted', async () => {
    const { budget, rest } = budgetOf({ slice: 2 * ATTEMPT + 100 });
    await budget.take(60);
    await budget.take(40);
    expect(rest).not.toHaveBeenCalled();
    await budget.take(0);
    expect(rest).toHaveBeenCalledExactlyOnceWith(0);
    await budget.take(100);
    expect(rest).toHaveBeenCalledOnce();
    await budget.take(0);
    expect(rest).toHaveBeenCalledTimes(2);
  });

  it('rests where a slice has had its time, and says how much that was', async () => {
    const { budget, rest } = budgetOf({ sliceTime: 10 });
    vi.advanceTimersByTime(9);
    await budget.take(1);
    expect(rest).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await budget.take(1);
    expect(rest).toHaveBeenCalledExactlyOnceWith(10);
    vi.advanceTimersByTime(9);
    await budget.take(1);
    expect(rest).toHaveBeenCalledOnce();
  });

  it('does not rest once it is used up', async () => {
    const { budget, rest } = budgetOf({ bytes: 0, slice: 0 });
    expect(await budget.take(1)).toBe(false);
    expect(rest).not.toHaveBeenCalled();
  });
});

describe('a pause', () => {
  it.each([true, false])('keeps the process alive where that is asked for: %s', async (keepsProcess) => {
    vi.useRealTimers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const over = pause(5, { keepsProcess });
    expect(timers).toHaveBeenCalledExactlyOnceWith(expect.any(Function), 5);
    const timer = timers.mock.results[0]!.value as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(keepsProcess);
    timer.ref();
    await over;
  });

  it('works with timers that are numbers, as those of browsers and Workers are', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void) => {
      queueMicrotask(run);
      return 7;
    }) as unknown as typeof setTimeout);
    await pause(5, { keepsProcess: false });
    expect(timers).toHaveBeenCalledOnce();
  });
});
