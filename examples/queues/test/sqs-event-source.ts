import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';

/** A client of the emulated SQS. */
export function clientOf(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
}

/**
 * Does what AWS does between a queue and a function: takes a batch, invokes, and deletes the
 * messages that did not fail.
 */
export async function invokeOnce(
  sqs: SQSClient,
  queueUrl: string,
  worker: (event: SQSEvent) => Promise<SQSBatchResponse>,
): Promise<{ readonly received: number; readonly failed: number }> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
  );
  if (Messages.length === 0) return { received: 0, failed: 0 };
  const Records = Messages.map(
    ({ MessageId, Body }) => ({ messageId: MessageId, body: Body }) as SQSEvent['Records'][number],
  );
  const { batchItemFailures } = await worker({ Records });
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId, ReceiptHandle } of Messages) {
    if (!failed.has(MessageId!))
      await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return { received: Messages.length, failed: failed.size };
}
