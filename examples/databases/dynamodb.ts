import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Order, Orders } from '@paylink/payments';

const TableName = process.env['ORDERS_TABLE'] ?? 'orders';
export const db = DynamoDBDocument.from(new DynamoDBClient());
const isDue = 'amount = :amount AND currency = :currency AND attribute_not_exists(paidAt)';
const pay = 'SET paidAt = :now, paid = :yes REMOVE unpaid';

export const orders: Orders = {
  async find(reference) {
    // An eventually consistent read may miss the credit.
    const { Item } = await db.get({ TableName, Key: { reference }, ConsistentRead: true });
    return Item && { ...(Item as Order), paid: Boolean(Item['paidAt']) };
  },
  async credit({ reference, amount, currency }) {
    const due = { ':amount': amount, ':currency': currency };
    const values = { ...due, ':now': Date.now(), ':yes': 'yes' };
    const update = { ExpressionAttributeValues: values, UpdateExpression: pay };
    try {
      await db.update({ TableName, Key: { reference }, ConditionExpression: isDue, ...update });
      return 1;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 0;
      throw error;
    }
  },
  unpaid: () => references('unpaid'),
  paid: () => references('paid'),
};

async function* references(IndexName: 'paid' | 'unpaid'): AsyncGenerator<string> {
  const KeyConditionExpression = `${IndexName} = :yes AND createdAt > :since`;
  const ExpressionAttributeValues = { ':yes': 'yes', ':since': Date.now() - 30 * 86_400_000 };
  const query = { TableName, IndexName, KeyConditionExpression, ExpressionAttributeValues };
  for await (const { Items = [] } of paginateQuery({ client: db }, query))
    for (const { reference } of Items) yield reference;
}

export const close = (): void => db.destroy();
