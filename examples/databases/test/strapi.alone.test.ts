import type { Order } from '@paylink/payments';
import { expect, it } from 'vitest';
import { openPostgres } from './on-postgres.js';
import { testRecipe, type RecipeOptions } from './suite.js';

const merchant = await openPostgres('strapi');
const recipe = await import('../strapi.js');

/** Strapi publishes by a new row, which is a copy of the draft. */
async function publish(reference: string): Promise<void> {
  await merchant.query('DELETE FROM orders WHERE reference = $1 AND published_at IS NOT NULL', [
    reference,
  ]);
  await merchant.query(
    'INSERT INTO orders (document_id, reference, amount, currency, paid_at, refunded_at, created_at, updated_at, published_at) SELECT document_id, reference, amount, currency, paid_at, refunded_at, created_at, now(), now() FROM orders WHERE reference = $1',
    [reference],
  );
}

const rowsOf = async (reference: string): Promise<{ paid: boolean; draft: boolean }[]> => {
  const { rows } = await merchant.query<{ paid: boolean; draft: boolean }>(
    'SELECT paid_at IS NOT NULL AS paid, published_at IS NULL AS draft FROM orders WHERE reference = $1 ORDER BY id',
    [reference],
  );
  return rows;
};

const createDraft: RecipeOptions['createOrder'] = ({ reference, amount, currency }) =>
  merchant.query(
    'INSERT INTO orders (document_id, reference, amount, currency, created_at, updated_at) VALUES (gen_random_uuid(), $1, $2, $3, now(), now())',
    [reference, amount, currency],
  );

/** Both rows at once, so that a reference that is taken leaves no draft. */
const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query(
      'INSERT INTO orders (document_id, reference, amount, currency, created_at, updated_at, published_at) SELECT id, $1, $2, $3, now(), now(), published_at FROM (SELECT gen_random_uuid() AS id) AS document, (VALUES (NULL), (localtimestamp)) AS row (published_at)',
      [reference, amount, currency],
    ),
  async elsewhere(reference) {
    const { rows } = await merchant.query<Order>(
      'SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1 AND published_at IS NOT NULL',
      [reference],
    );
    return rows[0];
  },
  later: {
    'edit the draft': (reference) =>
      merchant.query(
        'UPDATE orders SET updated_at = now() WHERE reference = $1 AND published_at IS NULL',
        [reference],
      ),
    'publish again': publish,
    refund: (reference) =>
      merchant.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
};
testRecipe('Strapi', recipe, options);

const { signal } = new AbortController();
const context = { tenant: null, signal, source: 'webhook' as const };

it('credits the draft and the published row of an order of Strapi', async () => {
  const payment = { reference: 'both rows', amount: 1_500, currency: 'XOF' };
  await options.createOrder({ ...payment, tenant: null });
  expect(await recipe.orders.credit(payment, context)).toBe(1);
  expect(await rowsOf('both rows')).toEqual([
    { paid: true, draft: true },
    { paid: true, draft: false },
  ]);
});

it('finds and credits no order of Strapi that is a draft alone', async () => {
  const payment = { reference: 'draft alone', amount: 1_500, currency: 'XOF' };
  await createDraft({ ...payment, tenant: null });
  expect(await recipe.orders.find('draft alone', context)).toBeUndefined();
  expect(await recipe.orders.credit(payment, context)).toBe(0);
  expect(await rowsOf('draft alone')).toEqual([{ paid: false, draft: true }]);
});
