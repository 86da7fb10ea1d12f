import { afterEach, describe, expect, it, vi } from 'vitest';
import { DoneReads, RecentlyDone } from '../src/done-keys.js';

afterEach(() => {
  vi.useRealTimers();
});

const silent = (): Promise<never> => new Promise(() => undefined);

describe('reads of a database that does not answer', () => {
  it('end after a while, and make room for those that wait (I06)', async () => {
    vi.useFakeTimers();
    let isSilent = true;
    const reads = new DoneReads((digests) => (isSilent ? silent() : Promise.resolve(new Set(digests))));
    const first = ['a', 'b'].map((digest) => reads.isDone(digest).catch(String));
    const waiting = reads.isDone('c');
    isSilent = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await Promise.all(first)).toEqual(Array(2).fill('Error: the database does not answer (waited 10000 ms)'));
    expect(await waiting).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('say why there is no answer, where that is known (I06)', async () => {
    vi.useFakeTimers();
    const reads = new DoneReads(silent, () => 'the pool is exhausted');
    const late = reads.isDone('a').catch(String);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toBe('Error: the pool is exhausted (waited 10000 ms)');
    const flood = Array.from({ length: 10_003 }, () => reads.isDone('a').catch(String));
    expect(await flood.at(-1)).toBe('Error: the pool is exhausted, and too many deliveries wait for it');
    await vi.advanceTimersByTimeAsync(1_000_000);
    await Promise.all(flood);
  });

  it('refuse at once what comes above a bound, so that a flood of replays fills no memory (H11)', async () => {
    const reads = new DoneReads(silent);
    const flood = Array.from({ length: 30_000 }, () => reads.isDone('a'));
    const refused = vi.fn();
    for (const read of flood) read.catch(refused);
    await new Promise((resolve) => setImmediate(resolve));
    // Two reads are under way with a key each, and 10,000 wait.
    expect(refused).toHaveBeenCalledTimes(19_998);
    expect(String(refused.mock.calls[0]![0])).toBe('Error: the database does not answer, and too many deliveries wait for it');
  });
});

describe('reads that many deliveries share', () => {
  it('are two at a time, of 200 keys at most, and tell each delivery of its own key', async () => {
    const answers: (() => void)[] = [];
    const asked: (readonly string[])[] = [];
    const isDone = (digest: string): boolean => Number(digest) % 3 === 0;
    const reads = new DoneReads((digests) => {
      asked.push(digests);
      return new Promise((resolve) => answers.push(() => resolve(new Set(digests.filter(isDone)))));
    });
    const keys = Array.from({ length: 450 }, (_, index) => `${index}`);
    const answered = Promise.all(keys.map((key) => reads.isDone(key)));
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    expect(asked).toEqual([['0'], ['1']]);
    answers.shift()!();
    await turn();
    expect(asked.slice(2)).toEqual([keys.slice(2, 202)]);
    answers.shift()!();
    await turn();
    expect(asked.slice(3)).toEqual([keys.slice(202, 402)]);
    while (answers.length > 0) {
      answers.shift()!();
      await turn();
    }
    expect(asked.slice(4)).toEqual([keys.slice(402)]);
    expect(await answered).toEqual(keys.map(isDone));
  });

  it('that fail are an error of their own deliveries, and of no others', async () => {
    const fault = new Error('down');
    let isDown = true;
    const reads = new DoneReads((digests) => (isDown ? Promise.reject(fault) : Promise.resolve(new Set(digests))));
    const failed = await Promise.all(['a', 'b'].map((key) => reads.isDone(key).catch((error: unknown) => error)));
    expect(failed).toEqual([fault, fault]);
    isDown = false;
    expect(await Promise.all(['a', 'b', 'c'].map((key) => reads.isDone(key)))).toEqual([true, true, true]);
  });
});

describe('the memory of keys that are done', () => {
  it('is kept in halves of 5,000: the older goes when the newer is full', () => {
    const recent = new RecentlyDone(() => 0);
    const add = (first: number, last: number): void => {
      for (let number = first; number <= last; number += 1) recent.add(`${number}`, recent.era);
    };
    add(1, 10_000);
    expect(['1', '5000', '10000'].map((key) => recent.recall(key))).toEqual(['done', 'done', 'done']);
    add(10_001, 10_001);
    expect(['1', '5000', '5001', '10001'].map((key) => recent.recall(key))).toEqual([undefined, undefined, 'done', 'done']);
  });

  it('is emptied by a lost connection and by a deletion, and takes no answer from before', () => {
    let lost = 0;
    const recent = new RecentlyDone(() => lost);
    recent.add('a', recent.era);
    const before = recent.era;
    lost = 1;
    expect(recent.recall('a')).toBe(undefined);
    recent.add('b', before);
    expect(recent.recall('b')).toBe(undefined);
    recent.add('b', recent.era);
    expect(recent.recall('b')).toBe('done');
    recent.clear();
    expect(recent.recall('b')).toBe(undefined);
  });

  it('is emptied where a connection is lost and marks are deleted at the same time', () => {
    let lost = 0;
    const recent = new RecentlyDone(() => lost);
    recent.add('a', recent.era);
    const before = recent.era;
    lost = 1;
    recent.clear();
    expect(recent.recall('a')).toBe(undefined);
    recent.add('a', before);
    expect(recent.recall('a')).toBe(undefined);
  });

  it('is emptied also of what was known before the first keys of a new time were added', () => {
    let lost = 0;
    const recent = new RecentlyDone(() => lost);
    for (let number = 0; number < 5_001; number += 1) recent.add(`${number}`, recent.era);
    lost = 1;
    recent.add('new', recent.era);
    expect(['0', '5000', 'new'].map((key) => recent.recall(key))).toEqual([undefined, undefined, 'done']);
  });

  it('remembers a key for less than five seconds', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const recent = new RecentlyDone(() => 0);
    recent.add('a', recent.era);
    vi.advanceTimersByTime(4_999);
    expect(recent.recall('a')).toBe('done');
    vi.advanceTimersByTime(1);
    expect(recent.recall('a')).toBe('lapsed');
  });
});
