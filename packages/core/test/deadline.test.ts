import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withinBounds } from '../src/deadline.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => undefined);
const listenersOf = (signal: AbortSignal) => ({
  added: vi.spyOn(signal, 'addEventListener'),
  removed: vi.spyOn(signal, 'removeEventListener'),
});

describe('withinBounds', () => {
  it('settles as what it waits for does, and leaves neither timer nor listener behind', async () => {
    const { signal } = new AbortController();
    const { added, removed } = listenersOf(signal);
    const bounds = { milliseconds: 1_000, signals: [signal, undefined] };
    expect(await withinBounds(Promise.resolve('value'), bounds)).toBe('value');
    await expect(withinBounds(Promise.reject(new Error('no')), bounds)).rejects.toThrow('no');
    expect(vi.getTimerCount()).toBe(0);
    expect(added).toHaveBeenCalledTimes(2);
    expect(removed.mock.calls).toEqual(added.mock.calls);
  });

  it('rejects when the time has passed, not before, and stops listening', async () => {
    const { signal } = new AbortController();
    const { removed } = listenersOf(signal);
    const outcome = vi.fn();
    withinBounds(never, { milliseconds: 1_000, signals: [signal] }).catch(outcome);
    await vi.advanceTimersByTimeAsync(999);
    expect(outcome).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome).toHaveBeenCalledExactlyOnceWith(new Error('no answer in 1000 ms'));
    expect(removed).toHaveBeenCalledOnce();
  });

  it('waits for as long as it takes where no time is given', async () => {
    const outcome = vi.fn();
    withinBounds(never, {}).catch(outcome);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, 1])('rejects with the reason of whichever signal is aborted: number %i', async (index) => {
    const controllers = [new AbortController(), new AbortController()];
    const waiting = withinBounds(never, { milliseconds: 1_000, signals: controllers.map(({ signal }) => signal) });
    const reason = new Error('over');
    controllers[index]!.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects at once under a signal that is aborted already, and swallows what fails later', async () => {
    let fail!: (error: Error) => void;
    const running = new Promise<never>((_, reject) => (fail = reject));
    const reason = new Error('over');
    await expect(withinBounds(running, { signals: [AbortSignal.abort(reason)] })).rejects.toBe(reason);
    fail(new Error('late'));
    // An unhandled rejection would fail the run.
    await vi.advanceTimersByTimeAsync(1);
  });

  it('makes the rejection by `reason`, once, and says whether a signal was aborted', async () => {
    const made = new Error('made');
    const reason = vi.fn(() => made);
    const controller = new AbortController();
    const waiting = withinBounds(never, { milliseconds: 1_000, signals: [controller.signal], reason });
    controller.abort();
    await expect(waiting).rejects.toBe(made);
    expect(reason).toHaveBeenCalledExactlyOnceWith(controller.signal);
    const late = withinBounds(never, { milliseconds: 1, signals: [new AbortController().signal], reason });
    const expected = expect(late).rejects.toBe(made);
    await vi.advanceTimersByTimeAsync(1_000);
    await expected;
    expect(reason.mock.calls).toEqual([[controller.signal], [undefined]]);
  });
});
