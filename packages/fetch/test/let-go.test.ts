import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { letGo, type RequestReader } from '../src/let-go.js';

const LINGER = 1_000;
const PIECE = { done: false, value: new Uint8Array(10) };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function readerOf(
  read: RequestReader['read'],
  cancel: RequestReader['cancel'] = () => Promise.resolve(),
) {
  return { read: vi.fn(read), cancel: vi.fn(cancel) };
}

describe('a body that nobody wants', () => {
  it('is dropped to its end and not cancelled, so that its connection can go on', async () => {
    let left = 40;
    const reader = readerOf(async () => (left-- > 0 ? PIECE : { done: true }));
    letGo(reader);
    await vi.advanceTimersByTimeAsync(100);
    expect(reader.read).toHaveBeenCalledTimes(41);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(LINGER);
    expect(reader.cancel).not.toHaveBeenCalled();
  });

  it('is not touched before the reply goes out, and leaves other work its turn', async () => {
    let left = 50;
    const reader = readerOf(async () => (left-- > 0 ? PIECE : { done: true }));
    const readUntilTurn: number[] = [];
    const set = globalThis.setTimeout;
    vi.stubGlobal('setTimeout', (work: () => void, milliseconds: number) => {
      if (milliseconds === 0) readUntilTurn.push(reader.read.mock.calls.length);
      return set(work, milliseconds);
    });
    letGo(reader);
    await vi.advanceTimersByTimeAsync(100);
    expect(readUntilTurn.slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is cancelled after a second if it does not end, and not read any more', async () => {
    const reader = readerOf(async () => PIECE);
    letGo(reader);
    await vi.advanceTimersByTimeAsync(LINGER - 1);
    expect(reader.cancel).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(reader.cancel).toHaveBeenCalledOnce();
    const { length } = reader.read.mock.calls;
    await vi.advanceTimersByTimeAsync(LINGER);
    expect(reader.read).toHaveBeenCalledTimes(length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is cancelled after a second if nothing comes, and a later piece is not followed by a read', async () => {
    let come = (_piece: typeof PIECE): void => undefined;
    const reader = readerOf(() => new Promise((resolve) => (come = resolve)));
    letGo(reader);
    await vi.advanceTimersByTimeAsync(LINGER);
    expect(reader.cancel).toHaveBeenCalledOnce();
    come(PIECE);
    await vi.advanceTimersByTimeAsync(LINGER);
    expect(reader.read).toHaveBeenCalledOnce();
  });

  it('ends if a read fails', async () => {
    const reader = readerOf(() => Promise.reject(new Error('reset by peer')));
    letGo(reader);
    await vi.advanceTimersByTimeAsync(100);
    expect(vi.getTimerCount()).toBe(0);
    expect(reader.cancel).not.toHaveBeenCalled();
  });

  it('may reject the cancel without an unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    let cancelled = 0;
    // No mock, because a mock handles the rejections of its promises.
    const cancel = (): Promise<never> => {
      cancelled += 1;
      return Promise.reject(new Error('locked'));
    };
    letGo({ read: () => new Promise(() => undefined), cancel });
    await vi.advanceTimersByTimeAsync(LINGER);
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve));
    process.off('unhandledRejection', unhandled);
    expect([cancelled, unhandled.mock.calls]).toEqual([1, []]);
  });

  it('is dropped on a runtime whose timers are numbers', async () => {
    const set = globalThis.setTimeout;
    vi.stubGlobal('setTimeout', (work: () => void, milliseconds: number) =>
      Number(set(work, milliseconds)),
    );
    const reader = readerOf(async () => ({ done: true }));
    letGo(reader);
    await vi.advanceTimersByTimeAsync(100);
    expect(reader.read).toHaveBeenCalledOnce();
  });

  it('keeps no process alive', () => {
    vi.useRealTimers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    letGo(readerOf(async () => ({ done: true })));
    const made = timers.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef());
    timers.mockRestore();
    expect(made).toEqual([false, false]);
  });
});
