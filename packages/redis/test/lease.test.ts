import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepLease } from '../src/lease.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A lease of 3 s whose renewals are answered by these, in turn: the last one stays. */
function keep(...answers: (() => Promise<boolean>)[]) {
  const started = performance.now();
  const asked: number[] = [];
  const renew = (): Promise<boolean> => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(performance.now() - started);
    return answer();
  };
  const lease = keepLease(3_000, started, renew);
  let lostAt: number | undefined;
  lease.lost.addEventListener('abort', () => (lostAt = performance.now() - started));
  return { lease, asked, lostAt: () => lostAt };
}

const held = (): Promise<boolean> => Promise.resolve(true);
const taken = (): Promise<boolean> => Promise.resolve(false);
const down = (): Promise<boolean> => Promise.reject(new Error('Redis is down'));

describe('a lease', () => {
  it('renews after every third of its time', async () => {
    const { lease, asked, lostAt } = keep(held);
    await vi.advanceTimersByTimeAsync(9_500);
    expect(asked).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
    expect(lostAt()).toBeUndefined();
    lease.stop();
  });

  it('retries after every tenth of its time while Redis does not answer, and expires at its end', async () => {
    const { lease, asked, lostAt } = keep(held, down);
    await vi.advanceTimersByTimeAsync(20_000);
    // Its end is counted from the renewal at 1,000.
    expect(asked).toEqual([1_000, 2_000, 2_300, 2_600, 2_900, 3_200, 3_500, 3_800]);
    expect(lostAt()).toBe(4_000);
    const reason = lease.lost.reason as Error;
    expect([reason.message, (reason.cause as Error).message]).toEqual([
      'the lease expired before Redis renewed it',
      'Redis is down',
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('expires at its end, to the millisecond, while a renewal has no answer', async () => {
    const { asked, lostAt } = keep(() => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(20_000);
    expect([asked, lostAt()]).toEqual([[1_000], 3_000]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('continues if an answer comes before its end, counted from the request', async () => {
    const slow = (): Promise<boolean> =>
      new Promise((resolve) => {
        setTimeout(() => resolve(true), 1_500);
      });
    const { asked, lostAt } = keep(down, slow, down);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked.slice(0, 3)).toEqual([1_000, 1_300, 3_800]);
    // Renewed by the question of 1,300.
    expect(lostAt()).toBe(4_300);
  });

  it('is lost at once if another run holds it, without a cause and without another request', async () => {
    const { lease, asked, lostAt } = keep(taken);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([asked, lostAt()]).toEqual([[1_000], 1_000]);
    expect((lease.lost.reason as Error).message).toMatch(/another process took it/);
    expect('cause' in (lease.lost.reason as Error)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['held', held],
    ['lost', taken],
    ['unanswered', down],
  ])(
    'does not change after it was stopped, even if a running renewal turns out %s',
    async (_, answer) => {
      let settle!: () => void;
      const answered = new Promise<void>((resolve) => (settle = resolve));
      const { lease, asked, lostAt } = keep(() => answered.then(answer));
      await vi.advanceTimersByTimeAsync(2_000);
      lease.stop();
      settle();
      await vi.advanceTimersByTimeAsync(20_000);
      expect([asked, lostAt()]).toEqual([[1_000], undefined]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('does not renew after it was stopped between two renewals', async () => {
    const { lease, asked } = keep(held);
    await vi.advanceTimersByTimeAsync(1_500);
    lease.stop();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toEqual([1_000]);
  });
});
