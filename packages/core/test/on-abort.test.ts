import { afterEach, describe, expect, it, vi } from 'vitest';
import { Attempt } from '../src/attempt.js';
import { onAbort } from '../src/on-abort.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

const reason = new Error('its time is over');

describe('who listens for the end of a run', () => {
  it.each<[string, (controller: AbortController) => { signal: AbortSignal }]>([
    ['by a signal', ({ signal }) => ({ signal })],
    [
      'by an attempt, of which a wrapper has made options with a signal of its own',
      ({ signal }) => ({ ...new Attempt().optionsOf('x'), signal }),
    ],
    [
      'by a proxy of an attempt’s options with a signal of its own',
      ({ signal }) =>
        new Proxy(new Attempt().optionsOf('x'), {
          get: (options, name) => (name === 'signal' ? signal : Reflect.get(options, name)) as unknown,
        }),
    ],
    [
      'by an attempt’s options that were given a signal of another',
      ({ signal }) => Object.defineProperty(new Attempt().optionsOf('x'), 'signal', { value: signal }),
    ],
    [
      'by options that have inherited those of an attempt',
      ({ signal }) => Object.create(new Attempt().optionsOf('x'), { signal: { value: signal } }) as { signal: AbortSignal },
    ],
  ])('is called back once with the reason: %s', (_how, optionsOf) => {
    const controller = new AbortController();
    const listener = vi.fn();
    onAbort(optionsOf(controller), listener);
    expect(listener).not.toHaveBeenCalled();
    controller.abort(reason);
    expect(listener).toHaveBeenCalledExactlyOnceWith(reason);
    const late = vi.fn();
    onAbort(optionsOf(controller), late);
    expect(late).toHaveBeenCalledExactlyOnceWith(reason);
  });

  it('is called back by an attempt, before those who listen to its signal, and no signal is made for it', () => {
    const made = vi.fn();
    const Counted = class extends AbortController {
      constructor() {
        super();
        made();
      }
    };
    vi.stubGlobal('AbortController', Counted);
    const attempt = new Attempt();
    const options = attempt.optionsOf('x');
    const called: unknown[] = [];
    onAbort(options, (error) => called.push(error));
    expect(made).not.toHaveBeenCalled();
    options.signal.addEventListener('abort', () => called.push('signal'));
    expect(made).toHaveBeenCalledOnce();
    const expired = attempt.expire('late');
    expect(called).toEqual([expired, 'signal']);
    onAbort(options, (error) => called.push(error));
    expect(called).toEqual([expired, 'signal', expired]);
  });

  it('is called back also where another throws, which stays an uncaught exception', () => {
    const uncaught = vi.fn();
    vi.stubGlobal('queueMicrotask', (task: () => void) => {
      expect(task).toThrow('of a listener');
      uncaught();
    });
    const attempt = new Attempt();
    const options = attempt.optionsOf('x');
    const last = vi.fn();
    onAbort(options, () => {
      throw new Error('of a listener');
    });
    onAbort(options, last);
    const { signal } = options;
    const expired = attempt.expire('late');
    expect(last).toHaveBeenCalledExactlyOnceWith(expired);
    expect(uncaught).toHaveBeenCalledOnce();
    expect(signal.reason).toBe(expired);
  });

  it('is called back by the attempt of another copy of this package', () => {
    const attempt = new Attempt();
    const options = { signal: AbortSignal.abort(reason) };
    const another = {
      isOf: (of: object) => of === options,
      onAbort: (called: (reason: unknown) => void) => attempt.onAbort(called),
    };
    Object.defineProperty(options, Symbol.for('paylink.attempt'), { value: another });
    const listener = vi.fn();
    onAbort(options, listener);
    expect(listener).not.toHaveBeenCalled();
    const expired = attempt.expire('late');
    expect(listener).toHaveBeenCalledExactlyOnceWith(expired);
  });

  it('finds a signal that code of a merchant can replace, as any other member', () => {
    const options = new Attempt().withSignal({});
    const { signal } = new AbortController();
    expect(Object.keys(options)).toEqual(['signal']);
    expect(Object.defineProperty(options, 'signal', { value: signal }).signal).toBe(signal);
  });

  it('is not called back once it has left', () => {
    const attempt = new Attempt();
    const controller = new AbortController();
    const [gone, stays] = [vi.fn(), vi.fn()];
    for (const options of [attempt.optionsOf('x'), controller]) {
      const leave = onAbort(options, gone);
      onAbort(options, stays);
      leave();
      leave();
    }
    attempt.expire('late');
    controller.abort();
    expect(gone).not.toHaveBeenCalled();
    expect(stays).toHaveBeenCalledTimes(2);
  });
});
