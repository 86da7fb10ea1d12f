import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchBody } from '../src/watch-body.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the watch of a body', () => {
  it('fails each of several bodies that are slow at once, and not one that came', () => {
    const failed: string[] = [];
    const watch = (name: string): (() => void) => watchBody({}, 1_000, ({ code }) => failed.push(`${name}: ${code}`));
    watch('first');
    const came = watch('second');
    watch('third');
    came();
    vi.advanceTimersByTime(1_100);
    expect(failed).toEqual(['first: body_timeout', 'third: body_timeout']);
    watch('fourth');
    vi.advanceTimersByTime(1_100);
    expect(failed).toHaveLength(3);
  });

  it('listens to a sender whose body is slow, and to no other', () => {
    const asked = vi.fn(() => AbortSignal.abort());
    const sender = {
      get signal() {
        return asked();
      },
    };
    const failed = vi.fn();
    watchBody(sender, 1_000, failed)();
    vi.advanceTimersByTime(1_100);
    expect(asked).not.toHaveBeenCalled();
    watchBody(sender, 1_000, failed);
    vi.advanceTimersByTime(60);
    expect(failed).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'incomplete_body' }));
  });

  it('takes a signal that cannot be read for none', () => {
    const failed: string[] = [];
    const fail = ({ code }: { readonly code: string }): void => void failed.push(code);
    watchBody(new Proxy(new Request('http://localhost'), {}), 1_000, fail);
    watchBody({}, 1_000, fail);
    vi.advanceTimersByTime(1_100);
    expect(failed).toEqual(['body_timeout', 'body_timeout']);
  });

  it('fails a body when its sender leaves, and not when that is after the watch', () => {
    for (const ends of [false, true]) {
      const controller = new AbortController();
      const failed = vi.fn();
      const end = watchBody(controller, 1_000, failed);
      vi.advanceTimersByTime(60);
      if (ends) end();
      controller.abort();
      expect(failed.mock.calls).toEqual(ends ? [] : [[expect.objectContaining({ code: 'incomplete_body' })]]);
      end();
    }
  });

  it('leaves no timer and no listener behind', () => {
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const ends = [watchBody({ signal }, 1_000, vi.fn()), watchBody({ signal }, 1_000, vi.fn())];
    vi.advanceTimersByTime(60);
    ends.push(watchBody({ signal }, 1_000, vi.fn()));
    for (const end of ends) end();
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledTimes(2);
  });
});
