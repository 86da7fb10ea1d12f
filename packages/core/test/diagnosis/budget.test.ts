import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/diagnosis/budget.js';

/** The cost of an attempt beside its bytes. */
const ATTEMPT = 512;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function budgetOf(limits: {
  readonly bytes?: number;
  readonly slice?: number;
  readonly sliceTime?: number;
}) {
  const rest = vi.fn((_used: number) => Promise.resolve());
  const bounds = { body: 1, text: 2, parsed: 3 };
  const budget = createBudget({
    ...bounds,
    bytes: 1e9,
    slice: 1e9,
    sliceTime: 1e9,
    rest,
    ...limits,
  });
  return { budget, rest };
}

describe('a budget', () => {
  it('spends the budget on bytes and attempts, to its last byte, and then stops resting', async () => {
    const { budget, rest } = budgetOf({ bytes: 2 * ATTEMPT + 100, slice: 2 * ATTEMPT + 100 });
    expect(budget).toMatchObject({ body: 1, text: 2, parsed: 3 });
    expect(await budget.take(60)).toBe(true);
    expect(await budget.take(40)).toBe(true);
    expect(await budget.take(0)).toBe(false);
    expect(rest).not.toHaveBeenCalled();
  });

  it('rests after the bytes of a slice', async () => {
    const { budget, rest } = budgetOf({ slice: 2 * ATTEMPT + 100 });
    await budget.take(60);
    await budget.take(40);
    expect(rest).not.toHaveBeenCalled();
    await budget.take(0);
    expect(rest).toHaveBeenCalledExactlyOnceWith(0);
    await budget.take(100);
    expect(rest).toHaveBeenCalledOnce();
  });

  it('rests after the time of a slice, and says how long that was', async () => {
    const { budget, rest } = budgetOf({ sliceTime: 10 });
    vi.advanceTimersByTime(9);
    await budget.take(1);
    expect(rest).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await budget.take(1);
    expect(rest).toHaveBeenCalledExactlyOnceWith(10);
  });
});
