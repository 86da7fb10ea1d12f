import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LazyAbort, withinBounds } from '../src/internal.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => undefined);

describe('withinBounds', () => {
  it('settles as the promise does, and leaves neither timer nor listener', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const bounds = { milliseconds: 1_000, signals: [signal, undefined] };
    expect(await withinBounds(Promise.resolve('value'), bounds)).toBe('value');
    await expect(withinBounds(Promise.reject(new Error('no')), bounds)).rejects.toThrow('no');
    expect(vi.getTimerCount()).toBe(0);
    expect(added).toHaveBeenCalledTimes(2);
    expect(removed.mock.calls).toEqual(added.mock.calls);
  });

  it('ends with the first reason of a delivery whose signal nobody has asked for', async () => {
    const abort = new LazyAbort();
    const wait = withinBounds(never, { signals: [abort] });
    abort.abort(new Error('answered'));
    abort.abort(new Error('later'));
    await expect(wait).rejects.toThrow('answered');
    expect(abort.signal.reason).toEqual(new Error('answered'));
  });

  it('ends each of many waits for one signal, with one listener', async () => {
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, 'addEventListener');
    const waits = Array.from({ length: 12 }, () =>
      withinBounds(never, {
        signals: [controller.signal],
        reason: (signal) => signal?.reason as unknown,
      }),
    );
    const outcomes = Promise.allSettled(waits);
    controller.abort(new Error('stop'));
    for (const outcome of await outcomes)
      expect(outcome).toEqual({ status: 'rejected', reason: new Error('stop') });
    expect(added).toHaveBeenCalledOnce();
  });

  it('rejects at its time and not before', async () => {
    const outcome = vi.fn();
    withinBounds(never, { milliseconds: 1_000 }).catch(outcome);
    await vi.advanceTimersByTimeAsync(999);
    expect(outcome).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome).toHaveBeenCalledExactlyOnceWith(new Error('no answer in 1000 ms'));
  });

  it.each([2 ** 31, Number.MAX_SAFE_INTEGER, Infinity])(
    'waits under a limit of %d ms, for which a timer would fire at once',
    async (milliseconds) => {
      const outcome = vi.fn();
      withinBounds(never, { milliseconds }).catch(outcome);
      await vi.advanceTimersByTimeAsync(86_400_000);
      expect(outcome).not.toHaveBeenCalled();
    },
  );

  it('sets no timer without a time', () => {
    void withinBounds(never, {});
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, 1])('rejects with the reason of the signal that aborts: number %i', async (index) => {
    const controllers = [new AbortController(), new AbortController()];
    const signals = controllers.map(({ signal }) => signal);
    const waiting = withinBounds(never, { milliseconds: 1_000, signals });
    const reason = new Error('over');
    controllers[index]!.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects at once under an aborted signal, and swallows a later rejection', async () => {
    let fail!: (error: Error) => void;
    const running = new Promise<never>((_resolve, reject) => (fail = reject));
    const reason = new Error('over');
    const signals = [AbortSignal.abort(reason)];
    await expect(withinBounds(running, { signals })).rejects.toBe(reason);
    fail(new Error('late'));
    // An unhandled rejection would fail the run.
    await vi.advanceTimersByTimeAsync(1);
  });

  it('rejects with the error of `reason`, which gets the signal that aborted', async () => {
    const made = new Error('made');
    const reason = vi.fn(() => made);
    const controller = new AbortController();
    const signals = [controller.signal];
    const waiting = withinBounds(never, { signals, reason });
    controller.abort();
    await expect(waiting).rejects.toBe(made);
    const expired = withinBounds(never, { milliseconds: 1, reason });
    const expected = expect(expired).rejects.toBe(made);
    await vi.advanceTimersByTimeAsync(1);
    await expected;
    expect(reason.mock.calls).toEqual([[controller.signal], [undefined]]);
  });
});
