/** DynamoDB Local with orders. Its stream shows each credit, whatever a recipe returns. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local.js';

const TableName = 'orders';

export async function startDynamoDbEngine() {
  const server = await startDynamoDbLocal();
  const db = DynamoDBDocument.from(new DynamoDBClient(server.client));
  const streams = new DynamoDBStreams(server.client);

  const isPaid = async (reference: string): Promise<boolean> => {
    const { Item } = await db.get({ TableName, Key: { reference }, ConsistentRead: true });
    return Item?.['paidAt'] !== undefined;
  };
  return {
    name: DYNAMODB_LOCAL,
    env: server.env,
    async insert(references: readonly string[]): Promise<void> {
      for (const reference of references) {
        const createdAt = Date.now();
        const Item = { reference, amount: 1_500, currency: 'XOF', createdAt, unpaid: 'yes' };
        await db.put({ TableName, Item });
      }
    },
    async paid(references: readonly string[]): Promise<Set<string>> {
      const all = await Promise.all(references.map(isPaid));
      return new Set(references.filter((_, index) => all[index]));
    },
    async credits(references: readonly string[]): Promise<number[]> {
      const counts = await countCredits(streams);
      return references.map((reference) => counts.get(reference) ?? 0);
    },
    async close(): Promise<void> {
      db.destroy();
      streams.destroy();
      await server.close();
    },
  };
}

/** Counts the changes of each order that left the order paid. */
async function countCredits(streams: DynamoDBStreams): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const { Streams = [] } = await streams.listStreams({ TableName });
  const StreamArn = Streams[0]!.StreamArn;
  const { StreamDescription } = await streams.describeStream({ StreamArn });
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const ShardIteratorType = 'TRIM_HORIZON';
    let { ShardIterator } = await streams.getShardIterator({
      StreamArn,
      ShardId,
      ShardIteratorType,
    });
    while (ShardIterator !== undefined) {
      const { Records = [], NextShardIterator } = await streams.getRecords({ ShardIterator });
      for (const { eventName, dynamodb } of Records) {
        if (eventName !== 'MODIFY' || dynamodb?.NewImage?.['paidAt'] === undefined) continue;
        const reference = dynamodb.Keys!['reference']!.S!;
        counts.set(reference, (counts.get(reference) ?? 0) + 1);
      }
      ShardIterator = Records.length === 0 ? undefined : NextShardIterator;
    }
  }
  return counts;
}
