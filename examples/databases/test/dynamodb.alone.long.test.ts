import type { Order } from '@paylink/payments';
import { afterAll, expect, it } from 'vitest';
import { startDynamoDbLocal } from './dynamodb-local.js';
import { testRecipe, type RecipeOptions } from './suite.js';

const server = await startDynamoDbLocal();
Object.assign(process.env, server.env);
const { db, ...recipe } = await import('../dynamodb.js');
afterAll(() => server.close());

const TableName = 'orders';
const set = (reference: string, change: string, value: number) =>
  db.update({
    TableName,
    Key: { reference },
    UpdateExpression: `SET ${change} = :value`,
    ExpressionAttributeValues: { ':value': value },
  });

const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    db.put({
      TableName,
      Item: { reference, amount, currency, createdAt: Date.now(), unpaid: 'yes', wallet: 'ada' },
      ConditionExpression: 'attribute_not_exists(amount)',
    }),
  async elsewhere(reference) {
    const { Item } = await db.get({ TableName, Key: { reference }, ConsistentRead: true });
    return Item && { ...(Item as Order), paid: 'paidAt' in Item };
  },
  later: {
    edit: (reference) => set(reference, 'editedAt', Date.now()),
    refund: (reference) => set(reference, 'refundedAt', Date.now()),
  },
};
testRecipe('DynamoDB', recipe, options);

const { orders: moreWrites } = await import('../dynamodb-more-writes.js');
const read = async (table: string, id: string) =>
  (await db.get({ TableName: table, Key: { id }, ConsistentRead: true })).Item;
testRecipe(
  'DynamoDB with more writes',
  { orders: moreWrites, close: () => undefined },
  {
    ...options,
    effects: async (reference) => ((await read('outbox', `receipt ${reference}`)) ? 1 : 0),
    total: async () => ((await read('wallets', 'ada'))?.['balance'] as number | undefined) ?? 0,
  },
);

it('DynamoDB leaves no mark if a further write fails', async () => {
  const { signal } = new AbortController();
  const reference = 'half';
  const payment = { reference, amount: 1, currency: 'XOF' };
  await options.createOrder({ ...payment, tenant: null });
  await db.put({ TableName: 'outbox', Item: { id: `receipt ${reference}` } });
  const context = { tenant: null, signal, source: 'webhook' as const };
  await expect(moreWrites.credit(payment, context)).rejects.toThrow(/cancelled/);
  expect(await options.elsewhere!(reference, context)).toMatchObject({ paid: false });
});
