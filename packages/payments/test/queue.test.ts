import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Queue } from '../src/order-lock.js';
import { tick } from './shop.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('shifts what is left in the order of arrival, also after it was empty', () => {
  const queue = new Queue<string, number>();
  for (const round of [1, 2]) {
    expect(queue.shift()).toBeUndefined();
    for (const key of ['a', 'b', 'c', 'd']) queue.set(key, round);
    expect(queue.shift()).toEqual(['a', round]);
    queue.delete('c');
    queue.set('a', round);
    expect([queue.shift(), queue.shift()]).toEqual([
      ['b', round],
      ['d', round],
    ]);
    expect(queue.shift()).toEqual(['a', round]);
  }
});

it('keeps no value that has left, although many came and left since the last shift', async () => {
  const queue = new Queue<string, object>();
  queue.set('first', {});
  queue.set('second', {});
  queue.shift();
  const left = new WeakRef({});
  queue.set('left', left.deref()!);
  for (let index = 0; index < 100; index++) {
    queue.set(`order-${index}`, {});
    queue.delete(`order-${index}`);
  }
  queue.delete('left');
  // A WeakRef keeps its target until the end of the turn.
  await tick();
  collectGarbage();
  expect(left.deref()).toBeUndefined();
  expect(queue.shift()).toEqual(['second', {}]);
});
