import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Orders } from '@paylink/payments';
import { db, orders as plain } from './dynamodb.js';

const isDue =
  'amount = :amount AND currency = :currency AND wallet = :wallet AND attribute_not_exists(paidAt)';

export const orders: Orders = {
  ...plain,
  async credit({ reference, amount, currency }, { signal }) {
    const order = { TableName: process.env['ORDERS_TABLE'] ?? 'orders', Key: { reference } };
    const { Item } = await db.get({ ...order, ConsistentRead: true });
    if (Item === undefined) return 0;
    const { wallet } = Item as { wallet: string };
    const due = { ':amount': amount, ':currency': currency, ':wallet': wallet };
    const ExpressionAttributeValues = { ...due, ':now': Date.now(), ':yes': 'yes' };
    const pay = { UpdateExpression: 'SET paidAt = :now, paid = :yes REMOVE unpaid' };
    const payment = { ...pay, ConditionExpression: isDue, ExpressionAttributeValues };
    const values = { ExpressionAttributeValues: { ':amount': amount } };
    const deposit = { ...values, UpdateExpression: 'ADD balance :amount' };
    const isNew = { ConditionExpression: 'attribute_not_exists(id)' };
    const TransactItems = [
      { Update: { ...order, ...payment } },
      { Update: { TableName: 'wallets', Key: { id: wallet }, ...deposit } },
      { Put: { TableName: 'outbox', Item: { id: `receipt ${reference}` }, ...isNew } },
    ];
    for (;;)
      try {
        return await db.transactWrite({ TransactItems }).then(() => 1);
      } catch (error) {
        const { CancellationReasons: reasons = [] } = error as TransactionCanceledException;
        if (reasons[0]?.Code === 'ConditionalCheckFailed') return 0;
        // Another transaction is writing the order or the wallet, so try again.
        if (!reasons.some(({ Code }) => Code === 'TransactionConflict')) throw error;
        signal.throwIfAborted();
      }
  },
};

export { close } from './dynamodb.js';
