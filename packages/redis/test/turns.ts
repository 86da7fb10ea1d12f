/**
 * A process that runs the events of one kind for many orders, each with its order's turn. The
 * process retries orders in progress. Redis counts the simultaneous runs of each order.
 */
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisStore } from '../src/index.js';

const [port, kind, orders] = process.argv.slice(2) as [string, string, string];
const redis = new Redis({ port: Number(port), host: '127.0.0.1' });
const store = redisStore(redis);

async function runUntilDone(order: number): Promise<void> {
  const work = async (): Promise<void> => {
    const atWork = await redis.incr(`at-work-${order}`);
    if (atWork > 1) await redis.incr('overlaps');
    // Until the other process was refused, so that the two meet at least once however they are
    // scheduled.
    if (order === 0) while ((await redis.get('refusals')) === null) await setTimeout(1);
    await setTimeout(5);
    await redis.incr(`effects-${order}`);
    await redis.decr(`at-work-${order}`);
  };
  for (;;) {
    const result = await store.run(`${kind}-${order}`, work, {
      signal: new AbortController().signal,
      turn: `order-${order}`,
    });
    if (result === 'done') return;
    if (result === 'duplicate')
      throw new Error(`${kind} of order ${order} was taken for another event`);
    await redis.incr('refusals');
    await setTimeout(Math.random() * 5);
  }
}

process.once('message', () => {
  void Promise.all(Array.from({ length: Number(orders) }, (_, order) => runUntilDone(order))).then(
    () => {
      process.send!('done');
      redis.disconnect();
      process.disconnect();
    },
  );
});
process.send!('ready');
