import { afterEach, describe, expect, it, vi } from 'vitest';
import { DoneReads } from '../src/done-keys.js';

afterEach(() => {
  vi.useRealTimers();
});

const silent = (): Promise<never> => new Promise(() => undefined);

describe('reads of a database that does not answer', () => {
  it('I06 end after a while, and make room for those that wait', async () => {
    vi.useFakeTimers();
    let isSilent = true;
    const reads = new DoneReads((digests) => (isSilent ? silent() : Promise.resolve(new Set(digests))));
    const first = ['a', 'b'].map((digest) => reads.isDone(digest).catch(String));
    const waiting = reads.isDone('c');
    isSilent = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await Promise.all(first)).toEqual(Array(2).fill('Error: the database does not answer (waited 10000 ms)'));
    expect(await waiting).toBe(true);
  });

  it('H11 refuse at once what comes above a bound, so that a flood of replays fills no memory', async () => {
    const reads = new DoneReads(silent);
    const flood = Array.from({ length: 30_000 }, () => reads.isDone('a'));
    const refused = vi.fn();
    for (const read of flood) read.catch(refused);
    await new Promise((resolve) => setImmediate(resolve));
    expect(refused.mock.calls.length).toBeGreaterThan(19_000);
    expect(String(refused.mock.calls[0]![0])).toContain('too many deliveries wait');
  });
});
