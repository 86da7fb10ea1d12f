import { describe, expect, it, vi } from 'vitest';
import { Aborts } from '../src/aborts.js';

const reason = new Error('its time is over');

describe('the abort of a run', () => {
  it('keeps a run from its beginning where it came before', async () => {
    const run = vi.fn(() => Promise.resolve());
    await expect(Aborts.during({ signal: AbortSignal.abort(reason) }, run)).rejects.toBe(reason);
    expect(run).not.toHaveBeenCalled();
  });

  it('is listened for once, for as long as the run takes, however it ends', async () => {
    for (const end of [Promise.resolve('x'), Promise.reject(new Error('of the run'))]) {
      const { signal } = new AbortController();
      const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
      const ended = await Aborts.during({ signal }, async (aborts) => {
        await aborts.race(Promise.resolve());
        expect(removed).not.toHaveBeenCalled();
        return end;
      }).catch((error: unknown) => (error as Error).message);
      expect(['x', 'of the run']).toContain(ended);
      expect(added.mock.calls).toEqual(removed.mock.calls);
      expect(added).toHaveBeenCalledOnce();
    }
  });

  it('calls back in the order of the calls, and not those who left', async () => {
    const controller = new AbortController();
    const called: string[] = [];
    await Aborts.during(controller, (aborts) => {
      aborts.on(() => called.push('first'));
      const leave = aborts.on(() => called.push('left'));
      aborts.on(() => called.push('second'));
      leave();
      expect(aborts.aborted).toBe(false);
      aborts.throwIfAborted();
      controller.abort(reason);
      expect(aborts.aborted).toBe(true);
      expect(() => aborts.throwIfAborted()).toThrow(reason);
      return Promise.resolve();
    });
    expect(called).toEqual(['first', 'second']);
  });

  it('calls back those after one that leaves as it is called', async () => {
    const controller = new AbortController();
    const last = vi.fn();
    await Aborts.during(controller, (aborts) => {
      const leave = aborts.on(() => leave());
      aborts.on(last);
      controller.abort(reason);
      return Promise.resolve();
    });
    expect(last).toHaveBeenCalledExactlyOnceWith(reason);
  });

  it('calls back those after one that throws', async () => {
    const last = vi.fn();
    let abort!: (reason: unknown) => void;
    const { signal } = new AbortController();
    // Called by hand, since the error of a signal's listener is an uncaught exception.
    vi.spyOn(signal, 'addEventListener').mockImplementation((_type, listener) => (abort = listener as typeof abort));
    vi.spyOn(signal, 'reason', 'get').mockReturnValue(reason);
    await Aborts.during({ signal }, (aborts) => {
      aborts.on(() => {
        throw new Error('of a pool');
      });
      aborts.on(last);
      aborts.on(last);
      expect(() => abort(reason)).toThrow('of a pool');
      return Promise.resolve();
    });
    expect(last.mock.calls).toEqual([[reason], [reason]]);
  });

  it('ends a wait at once, after what is to be done with it', async () => {
    const controller = new AbortController();
    const onAbort = vi.fn();
    await Aborts.during(controller, async (aborts) => {
      const waiting = aborts.race(new Promise(() => undefined), onAbort);
      controller.abort(reason);
      expect(onAbort).toHaveBeenCalledExactlyOnceWith(reason);
      await expect(waiting).rejects.toBe(reason);
      // And one that begins after it.
      await expect(aborts.race(new Promise(() => undefined), onAbort)).rejects.toBe(reason);
      expect(onAbort).toHaveBeenCalledTimes(2);
      await expect(aborts.race(new Promise(() => undefined))).rejects.toBe(reason);
    });
  });

  it('means nothing to a wait that has ended', async () => {
    const controller = new AbortController();
    const onAbort = vi.fn();
    await Aborts.during(controller, async (aborts) => {
      expect(await aborts.race(Promise.resolve('x'), onAbort)).toBe('x');
      await expect(aborts.race(Promise.reject(new Error('of the wait')), onAbort)).rejects.toThrow('of the wait');
      controller.abort(reason);
    });
    expect(onAbort).not.toHaveBeenCalled();
  });
});
