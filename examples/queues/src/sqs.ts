/**
 * Queues notifications in Amazon SQS, between two Lambda functions. The 200 goes out once SQS has
 * stored the message. The queue needs a dead-letter queue, and a visibility timeout of at least six
 * times the time limit of the worker's function.
 */
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { paymentWebhook } from '@paylink/lambda';
import { WebhookError, type Payments } from '@paylink/payments';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';

/** The function that receives the service's notifications. */
export function createWebhook(secret: string | undefined, sqs: SQSClient, queueUrl: string) {
  const options = { secret, handlerTimeout: 5_000 };
  return paymentWebhook(options, async ({ type, reference, tenant }, { signal }) => {
    const MessageBody = JSON.stringify({ type, reference, tenant });
    const message = new SendMessageCommand({ QueueUrl: queueUrl, MessageBody });
    try {
      await sqs.send(message, { abortSignal: signal });
    } catch (cause) {
      throw new WebhookError('orders_unavailable', { cause });
    }
  });
}

/**
 * The function that SQS invokes. Set `ReportBatchItemFailures` on its event source, because one
 * failure would otherwise repeat the whole batch.
 */
export function createWorker(payments: Payments) {
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const batchItemFailures = [];
    for (const { messageId, body } of Records) {
      try {
        await payments.receive(JSON.parse(body) as Parameters<Payments['receive']>[0]);
      } catch (error) {
        console.error('payment job failed', messageId, (error as Error).message);
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
}
