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
    /^The effect happens 2 times: it is written before the conditional write/,
  ],
  'a receipt even if the write changed no row': [
    'orders',
    /^Two deliveries both credit: one writes on, although its first write changed no row/,
  ],
  'a mark in memory that no failed write removes': ['cuts', /^The order stays unpaid/],
  'a transaction that stays open, on a pool of 1': [
    'orders',
    /^A transaction stays open after the reply/,
  ],
  'a receipt after the commit': ['cuts', /^The effect is lost: it is written after the commit/],
  'a receipt in a second transaction': [
    'cuts',
    /^The effect happens 2 times.* a second transaction/,
  ],
  'a function of the database that reads and writes': ['orders', CONDITION],
  'a claim that outlives its process': ['cuts', /^The order stays unpaid/],
  'a wallet that is read, then written, on a pool of 1': [
    'orders',
    /^Two orders pay into one row, and a write is lost/,
  ],
} as const satisfies Record<string, readonly ['orders' | 'cuts', RegExp]>;

export const RIGHT = [
  'one write',
  'one write and a receipt, in a transaction',
  'a read FOR UPDATE, then a write',
  'a read, then a write, SERIALIZABLE',
  'an advisory lock around a read and a write',
  'a wallet that adds',
  'one write, then a read in a transaction that stays open',
  'one write, in a process that ends after an error',
  'one write, but the first of each process fails',
];

/** These need locks or statements that the module on MariaDB has not. */
export const isOnBoth = (design: string): boolean =>
  !/INSERT|claim|function|SERIALIZABLE|advisory|wallet|stays open/.test(design);

const ORDERS =
  'CREATE TABLE orders (reference varchar(64) PRIMARY KEY, amount bigint, currency varchar(3)';

/** The tables of the modules. */
export const TABLES = {
  postgres: `${ORDERS}, paid_at timestamptz);
    CREATE TABLE receipts (reference text);
    CREATE TABLE claims (reference text PRIMARY KEY);
    CREATE TABLE wallets (id text PRIMARY KEY, balance bigint);
    INSERT INTO wallets VALUES ('ada', 0);
    CREATE TABLE tenant_orders (merchant text, reference text, amount bigint, currency text,
      paid_at timestamptz, PRIMARY KEY (merchant, reference));
    CREATE FUNCTION credit_order(paid_reference text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT 1 FROM orders WHERE reference = paid_reference AND paid_at IS NOT NULL) THEN
        RETURN 0;
      END IF;
      UPDATE orders SET paid_at = now() WHERE reference = paid_reference;
      RETURN 1;
    END $$`,
  mysql: `${ORDERS}, paid_at datetime NULL);
    CREATE TABLE receipts (reference varchar(64), KEY (reference))`,
};
