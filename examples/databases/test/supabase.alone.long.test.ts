import { readFileSync } from 'node:fs';
import { createClient } from '@supabase/supabase-js';
import { afterAll, expect, it } from 'vitest';
import type { Order } from '@paylink/payments';
import { KEYS } from './postgrest.js';
import { startSupabase } from './supabase-server.js';
import { testRecipe, testVariant, type RecipeOptions } from './suite.js';

const sqlOf = (name: string): string =>
  readFileSync(new URL(`../tables/${name}.sql`, import.meta.url), 'utf8');

const { url, secretKey, pool: merchant, close } = await startSupabase();
await merchant.query(sqlOf('supabase-more-writes'));
await merchant.query("INSERT INTO wallets VALUES ('ada', 0)");
process.env['SUPABASE_URL'] = url;
process.env['SUPABASE_SECRET_KEY'] = secretKey;
afterAll(close);

const insert = (reference: string, amount: number, currency: string) =>
  merchant.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
    reference,
    amount,
    currency,
  ]);

const recipe = await import('../supabase.js');
const moreWrites = await import('../supabase-more-writes.js');
const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) => insert(reference, amount, currency),
  async elsewhere(reference) {
    const { rows } = await merchant.query<Order>(
      'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
      [reference],
    );
    return rows[0];
  },
  later: {
    edit: (reference) =>
      merchant.query('UPDATE orders SET created_at = created_at WHERE reference = $1', [reference]),
    refund: (reference) =>
      merchant.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
};
testRecipe('Supabase', recipe, options);
testVariant('Supabase with more writes', moreWrites.orders, {
  ...options,
  async effects(reference) {
    const receipts = 'SELECT 1 FROM outbox WHERE reference = $1';
    return (await merchant.query(receipts, [reference])).rowCount ?? 0;
  },
});

const { signal } = new AbortController();
const context = { tenant: null, signal, source: 'webhook' } as const;

it('deposits into a wallet that has no row yet', async () => {
  const payment = { reference: 'first', amount: 1_500, currency: 'XOF' };
  await insert('first', 1_500, 'XOF');
  await merchant.query("UPDATE orders SET wallet = 'new' WHERE reference = 'first'");
  expect(await moreWrites.orders.credit(payment, context)).toBe(1);
  const { rows } = await merchant.query("SELECT balance FROM wallets WHERE id = 'new'");
  expect(rows).toEqual([{ balance: '1500' }]);
});

it('lists more orders than Supabase returns at once', async () => {
  await merchant.query(
    "INSERT INTO orders (reference, amount, currency) SELECT 'many-' || n, 1, 'XOF' FROM generate_series(1, 2345) AS n",
  );
  const listed = (await recipe.orders.unpaid!({ tenant: null, signal })) as string[];
  expect(new Set(listed.filter((reference) => reference.startsWith('many-'))).size).toBe(2_345);
});

it('throws for an error of Supabase', async () => {
  await merchant.query('ALTER TABLE orders RENAME COLUMN paid_at TO paid_on');
  await expect(Promise.resolve(recipe.orders.find('lost', context))).rejects.toThrow('paid_at');
  await merchant.query('ALTER TABLE orders RENAME COLUMN paid_on TO paid_at');
});

it('neither finds nor credits with the key of a browser, with and without a policy to read', async () => {
  await insert('guarded', 1_500, 'XOF');
  const browser = createClient(url, KEYS.anon);
  const credit = () =>
    browser
      .from('orders')
      .update({ paid_at: new Date().toISOString() })
      .match({ reference: 'guarded' })
      .select();
  const find = () => browser.from('orders').select().eq('reference', 'guarded');
  expect(await find()).toMatchObject({ error: { code: '42501' } });
  expect(await credit()).toMatchObject({ error: { code: '42501' } });
  // As in older projects.
  await merchant.query('GRANT ALL ON orders TO anon');
  expect(await find()).toMatchObject({ data: [], error: null });
  expect(await credit()).toMatchObject({ data: [], error: null });
  await merchant.query('CREATE POLICY reading ON orders FOR SELECT TO anon USING (true)');
  expect(await find()).toMatchObject({ data: [{ reference: 'guarded', paid_at: null }] });
  expect(await credit()).toMatchObject({ data: [], error: null });
  const payment = { reference: 'guarded', amount: 1_500, currency: 'XOF' };
  expect(await recipe.orders.credit(payment, context)).toBe(1);
});

it('leaves neither mark nor receipt if a further write fails, and refuses the key of a browser', async () => {
  await insert('half', 1, 'XOF');
  await merchant.query("INSERT INTO outbox VALUES ('receipt', 'half')");
  const payment = { reference: 'half', amount: 1, currency: 'XOF' };
  const crediting = Promise.resolve(moreWrites.orders.credit(payment, context));
  await expect(crediting).rejects.toThrow(/unique/);
  expect(await recipe.orders.find('half', context)).toMatchObject({ paid: false });

  await merchant.query("DELETE FROM outbox WHERE reference = 'half'");
  const call = { paid_reference: 'half', paid_amount: 1, paid_currency: 'XOF' };
  const { error } = await createClient(url, KEYS.anon).rpc('credit_order', call);
  expect(error?.message).toBe('permission denied for function credit_order');
  expect(await recipe.orders.find('half', context)).toMatchObject({ paid: false });
});
