import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Order, Orders } from '@paylink/payments';

const TableName = process.env['ORDERS_TABLE'] ?? 'orders';
export const db = DynamoDBDocument.from(new DynamoDBClient());
const isDue = 'amount = :amount AND currency = :currency AND attribute_not_exists(paidAt)';

export const orders: Orders = {
  async find(reference) {
    // A read that is not consistent may miss the credit.
    const { Item } = await db.get({ TableName, Key: { reference }, ConsistentRead: true });
    return Item && { ...(Item as Order), paid: Boolean(Item['paidAt']) };
  },
  async credit({ reference, amount, currency }) {
    try {
      await db.update({
        TableName,
        Key: { reference },
        UpdateExpression: 'SET paidAt = :now REMOVE unpaid',
        ConditionExpression: isDue,
        ExpressionAttributeValues: { ':now': Date.now(), ':amount': amount, ':currency': currency },
      });
      return 1;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 0;
      throw error;
    }
  },
  async *unpaid() {
    const since = Date.now() - 30 * 86_400_000;
    const KeyConditionExpression = 'unpaid = :yes AND createdAt > :since';
    const ExpressionAttributeValues = { ':yes': 'yes', ':since': since };
    const query = { TableName, IndexName: 'unpaid', KeyConditionExpression };
    const pages = paginateQuery({ client: db }, { ...query, ExpressionAttributeValues });
    for await (const { Items = [] } of pages) for (const { reference } of Items) yield reference;
  },
};

export const close = (): void => db.destroy();
