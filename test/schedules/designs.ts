/** The designs of a credit that the modules of this folder have. */

const CONDITION = /^Two deliveries both credit: the write does not require an unpaid order/;

/** The broken designs, where each shows its fault, and the sentence. */
export const BROKEN = {
  'a read, then a write': ['orders', CONDITION],
  'a read, then a write, in a transaction': ['orders', CONDITION],
  'a read, then a write, on a pool of 1': ['orders', CONDITION],
  'a lock in memory': ['orders', CONDITION],
  'INSERT … WHERE NOT EXISTS without a key': ['orders', /^Two deliveries both credit: both insert/],
  'a receipt before the write': [
    'orders',
    /^The effect happens 2 times: it \(INSERT INTO receipts/,
  ],
  'a receipt after the commit': ['cuts', /^The effect is lost: it is written after the commit/],
  'a receipt in a second transaction': [
    'cuts',
    /^The effect happens 2 times.* a second transaction/,
  ],
  'a claim that outlives its process': ['cuts', /^The order stays unpaid/],
} as const satisfies Record<string, readonly ['orders' | 'cuts', RegExp]>;

export const RIGHT = [
  'one write',
  'one write and a receipt, in a transaction',
  'a read FOR UPDATE, then a write',
  'a read, then a write, SERIALIZABLE',
  'an advisory lock around a read and a write',
];
