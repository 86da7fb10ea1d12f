import type { Order } from '@paylink/payments';
import { afterAll } from 'vitest';
import { startDynamoDbLocal } from './dynamodb-local.js';
import { testRecipe } from './suite.js';

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

testRecipe('DynamoDB', recipe, {
  createOrder: ({ reference, amount, currency }) =>
    db.put({
      TableName,
      Item: { reference, amount, currency, createdAt: Date.now(), unpaid: 'yes' },
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
});
