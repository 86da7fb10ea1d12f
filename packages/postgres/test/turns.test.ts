import type { RunResult } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { Aborts } from '../src/aborts.js';
import { Turns } from '../src/turns.js';
import { latch, neverAborted } from './shop.js';

/** Runs in a line, of which a test decides when each ends and how. */
function line() {
  const turns = new Turns();
  const started: string[] = [];
  const ends = new Map<string, (end: RunResult | Error) => void>();
  const run = (turn: string, key: string, name: string, signal = neverAborted): Promise<unknown> =>
    Aborts.during({ signal }, (aborts) =>
      turns.run(turn, key, aborts, () => {
        started.push(name);
        return new Promise((resolve, reject) => {
          ends.set(name, (end) => (end instanceof Error ? reject(end) : resolve(end)));
        });
      }),
    ).catch((error: unknown) => error);
  const end = async (name: string, how: RunResult | Error): Promise<void> => {
    ends.get(name)!(how);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, started, run, end };
}

describe('runs of one turn in one process', () => {
  it('go one at a time, and those of other turns beside them', async () => {
    const { started, run, end } = line();
    const results = [run('order 1', 'a', 'first'), run('order 1', 'b', 'second'), run('order 2', 'c', 'beside')];
    expect(started).toEqual(['first', 'beside']);
    await end('first', 'done');
    expect(started).toEqual(['first', 'beside', 'second']);
    await end('second', 'done');
    await end('beside', 'done');
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
  });

  it.each([
    ['done', 'duplicate'],
    ['duplicate', 'duplicate'],
    ['in_progress', 'in_progress'],
  ] as const)('answer those of the same key that wait: after %s with %s, and no other key', async (result, answer) => {
    const { started, run, end } = line();
    const results = [run('t', 'a', 'first'), run('t', 'a', 'again'), run('t', 'b', 'other'), run('t', 'a', 'once more')];
    await end('first', result);
    expect(started).toEqual(['first', 'other']);
    expect(await Promise.all([results[0], results[1], results[3]])).toEqual([result, answer, answer]);
    await end('other', 'done');
    expect(await results[2]).toBe('done');
  });

  it('let the next try when one fails, of the same key too', async () => {
    const { started, run, end } = line();
    const fault = new Error('of the handler');
    const results = [run('t', 'a', 'first'), run('t', 'a', 'second'), run('t', 'b', 'third')];
    await end('first', fault);
    expect(started).toEqual(['first', 'second']);
    await end('second', 'done');
    expect(started).toEqual(['first', 'second', 'third']);
    await end('third', 'done');
    expect(await Promise.all(results)).toEqual([fault, 'done', 'done']);
  });

  it('leave nothing behind: the turn is free again after the last', async () => {
    const { turns, started, run, end } = line();
    for (const name of ['one', 'two', 'three']) {
      const result = run('t', 'a', name);
      expect(turns.isRunning('a')).toBe(true);
      await end(name, 'done');
      expect(await result).toBe('done');
      expect(turns.isRunning('a')).toBe(false);
    }
    expect(started).toEqual(['one', 'two', 'three']);
  });

  it('count as running from their wait on until the last of a key has ended', async () => {
    const { turns, run, end } = line();
    const fault = new Error('of the handler');
    const results = [run('t', 'a', 'first'), run('t', 'b', 'second'), run('t', 'b', 'third')];
    expect([turns.isRunning('a'), turns.isRunning('b'), turns.isRunning('c')]).toEqual([true, true, false]);
    await end('first', 'done');
    expect([turns.isRunning('a'), turns.isRunning('b')]).toEqual([false, true]);
    await end('second', fault);
    expect(turns.isRunning('b')).toBe(true);
    await end('third', 'done');
    expect(turns.isRunning('b')).toBe(false);
    expect(await Promise.all(results)).toEqual(['done', fault, 'done']);
  });

  it('leave the line with the reason when they are aborted in it, and are never begun', async () => {
    const { turns, started, run, end } = line();
    const controller = new AbortController();
    const reason = new Error('its time is over');
    const results = [run('t', 'a', 'first'), run('t', 'b', 'second', controller.signal), run('t', 'c', 'third')];
    controller.abort(reason);
    expect(await results[1]).toBe(reason);
    expect(turns.isRunning('b')).toBe(false);
    await end('first', 'done');
    expect(started).toEqual(['first', 'third']);
    await end('third', 'done');
    expect(await Promise.all([results[0], results[2]])).toEqual(['done', 'done']);
    await run('t', 'd', 'refused', controller.signal);
    expect(started).toEqual(['first', 'third']);
    expect(turns.isRunning('d')).toBe(false);
  });

  it('are not ended by an abort once they have begun', async () => {
    const { started, run, end } = line();
    const controller = new AbortController();
    const gone = latch();
    const first = run('t', 'a', 'first');
    const second = run('t', 'b', 'second', controller.signal).finally(gone.open);
    await end('first', 'done');
    // Who waits behind it is not taken out of the line in its place.
    const third = run('t', 'c', 'third');
    controller.abort(new Error('too late'));
    expect(started).toEqual(['first', 'second']);
    await end('second', 'done');
    await gone.opened;
    await end('third', 'done');
    expect(await Promise.all([first, second, third])).toEqual(['done', 'done', 'done']);
  });
});
