/**
 * Broken `orders` on Supabase, as public handlers credit there: each is caught by the sentence that
 * names its fault.
 */
import type { Order } from '@paylink/payments';
import { afterAll } from 'vitest';
import { KEYS } from '../../examples/databases/test/postgrest.js';
import { startSupabase } from '../../examples/databases/test/supabase-server.js';
import { testFaults, type Broken, type Designs } from './faults.js';

const { url, secretKey, pool, close } = await startSupabase();
await pool.query(`
  ALTER TABLE orders ADD status text NOT NULL DEFAULT 'pending';
  GRANT ALL ON orders TO anon;
  CREATE POLICY reading ON orders FOR SELECT TO anon USING (true)`);
process.env['SUPABASE_URL'] = url;
process.env['SUPABASE_SECRET_KEY'] = secretKey;
const { orders: right, supabase } = await import('../../examples/databases/supabase.js');
afterAll(close);

type Credit = Broken['orders']['credit'];

const createOrder: Broken['createOrder'] = ({ reference, amount, currency }) =>
  pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    currency,
  ]);
const withCredit = (credit: Credit): Broken => ({
  createOrder,
  orders: { find: right.find, credit },
});
const orders = () => supabase.from('orders');
const paid = () => ({ paid_at: new Date().toISOString() });

const broken: Designs = {
  'an update without a condition': [
    withCredit(async ({ reference }) => {
      const { data } = await orders().update(paid()).eq('reference', reference).select();
      return data?.length ?? 0;
    }),
    /^credit returned 1 for an order that was already paid.*unpaid order/,
  ],
  '`single`, then an update': [
    withCredit(async ({ reference }) => {
      const { data } = await orders().select('paid_at').eq('reference', reference).single();
      if (data?.paid_at !== null) return 0;
      await orders().update(paid()).eq('reference', reference);
      return 1;
    }),
    /^\d+ of 20 simultaneous calls credited the same order/,
  ],
  'an update without `select`, which gives no count': [
    withCredit(async ({ reference, amount, currency }) => {
      const update = orders().update(paid()).match({ reference, amount, currency });
      const { data } = await update.is('paid_at', null);
      return (data as unknown[] | null)?.length ?? 0;
    }),
    /^credit returned 0, but paid the order.*\.select\(\)/,
  ],
  'an update whose reply is returned': [
    withCredit((({ reference, amount, currency }: Parameters<Credit>[0]) =>
      orders()
        .update(paid())
        .match({ reference, amount, currency })
        .is('paid_at', null)
        .select()) as unknown as Credit),
    /^credit returned \[Object\].*number of rows/,
  ],
  'an update that is never sent, because nothing awaits it': [
    withCredit(({ reference }) => {
      void orders().update(paid()).eq('reference', reference);
      return 1;
    }),
    /^credit returned 1, but find reports the order as unpaid.*missing await/,
  ],
  'an error that is ignored': [
    withCredit(async ({ reference }) => {
      const update = orders().update({ paid: true }).eq('reference', reference);
      const { data } = await update.is('paid_at', null).select();
      return data?.length ?? 0;
    }),
    /^credit changed no row for an unpaid order.*an error that is ignored/,
  ],
  'the key of a browser, from which row level security hides the write': [
    withCredit(async ({ reference, amount, currency }) => {
      const update = orders().update(paid()).match({ reference, amount, currency });
      const isDue = update.is('paid_at', null).select();
      const { data } = await isDue.setHeader('apikey', KEYS.anon);
      return data?.length ?? 0;
    }),
    /^credit changed no row for an unpaid order.*row level security/,
  ],
  'an upsert': [
    withCredit(async ({ reference, amount, currency }) => {
      const order = { reference, amount, currency, ...paid() };
      const { data } = await orders().upsert(order, { onConflict: 'reference' }).select();
      return data?.length ?? 0;
    }),
    /^credit made an order for a reference that no order has/,
  ],
  'an update without `.eq` of the reference': [
    withCredit(async ({ amount, currency }) => {
      const update = orders().update(paid()).match({ amount, currency });
      const { data } = await update.is('paid_at', null).select();
      return data?.length ?? 0;
    }),
    /^credit returned \d+, and paid another order too.*name one order/,
  ],
  "`.neq('status', 'paid')`, which a shipped order fulfils": [
    {
      createOrder,
      orders: {
        async find(reference) {
          const select = orders().select().eq('reference', reference);
          const { data } = await select.maybeSingle<Order & { status: string }>();
          return data && { ...data, paid: data.status !== 'pending' };
        },
        async credit({ reference, amount, currency }) {
          const update = orders().update({ status: 'paid' }).match({ reference, amount, currency });
          const { data } = await update.neq('status', 'paid').select();
          return data?.length ?? 0;
        },
      },
      later: {
        ship: (reference) =>
          pool.query("UPDATE orders SET status = 'shipped' WHERE reference = $1", [reference]),
      },
    },
    /^After ship, a paid order was credited again/,
  ],
  '`!== null` of a column that was not selected': [
    {
      createOrder,
      orders: {
        async find(reference) {
          const select = orders().select('reference, amount, currency').eq('reference', reference);
          const { data } = await select.maybeSingle<Order & { paid_at?: string | null }>();
          return data && { ...data, paid: data.paid_at !== null };
        },
        credit: right.credit,
      },
    },
    /^A new order must be unpaid.*`!== null` of a column that was not selected/,
  ],
};

testFaults(broken, { tags: ['P22', 'P23', 'P30'] });
