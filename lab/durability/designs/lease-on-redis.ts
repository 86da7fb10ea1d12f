import { redisStore } from '@paylink/redis';
import { Redis } from 'ioredis';
import { creditWithOrder } from '../credit-order.js';
import type { Design } from './design.js';

// Short, because a killed receiver's orders wait for its end.
const LEASE_MS = 200;

const store: Design['store'] = ({ pool, redis }) => {
  if (redis === undefined) throw new Error('this design needs the URL of a Redis');
  const leases = redisStore(new Redis(redis), { leaseMs: LEASE_MS });
  return {
    isDone: (key) => leases.isDone(key),
    run: (key, work, options) => leases.run(key, () => work(pool), options),
  };
};

/** `redisStore` with a credit that relies on the store alone, against its documentation. */
export const leaseOnRedis: Design = { store, needsRedis: true, loses: false, doubles: true };

/** `redisStore` as documented: the crediting statement marks the order. */
export const leaseAndPaidAt: Design = {
  store,
  credit: creditWithOrder,
  needsRedis: true,
  loses: false,
  doubles: false,
};
