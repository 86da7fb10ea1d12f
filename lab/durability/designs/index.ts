import { creditThenMark } from './credit-then-mark.js';
import type { Design } from './design.js';
import { leaseAndPaidAt, leaseOnRedis } from './lease-on-redis.js';
import { markThenCredit } from './mark-then-credit.js';
import { oneTransaction, oneTransactionByRecipe } from './one-transaction.js';

const named = {
  postgresStore: oneTransaction,
  'postgresStore-recipe': oneTransactionByRecipe,
  'mark-then-credit': markThenCredit,
  'credit-then-mark': creditThenMark,
  redisStore: leaseOnRedis,
  'redisStore-paid-at': leaseAndPaidAt,
};

export type DesignName = keyof typeof named;
export const designs: Readonly<Record<DesignName, Design>> = named;
export const DESIGN_NAMES = Object.keys(named) as DesignName[];
