/**
 * Verified events as messages of Amazon SQS, between two Lambda functions. The 200 goes out when
 * SQS has the message. The worker's store on PostgreSQL is the record of the credits.
 */
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { paymentWebhook } from '@paylink/lambda';
import { WebhookError } from '@paylink/payments';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { fromJob, toJob } from './job.js';
import { createWorkerPayments, type WorkerSettings } from './orders.js';

interface WebhookSettings {
  readonly secret: string | undefined;
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly handlerTimeout?: number;
}

/** The function behind the URL that the service posts to. */
export function createWebhook(settings: WebhookSettings) {
  const { secret, sqs, queueUrl, handlerTimeout = 5_000 } = settings;
  return paymentWebhook({ secret, handlerTimeout }, async (event, { signal }) => {
    const MessageBody = JSON.stringify(toJob(event));
    const message = new SendMessageCommand({ QueueUrl: queueUrl, MessageBody });
    try {
      await sqs.send(message, { abortSignal: signal });
    } catch (cause) {
      throw new WebhookError('store_unavailable', {
        message: 'SQS did not take the message',
        cause,
      });
    }
  });
}

type SqsWorker = (event: SQSEvent) => Promise<SQSBatchResponse>;

/**
 * The function that SQS invokes. Set `ReportBatchItemFailures` on its event source, or one failure
 * repeats the whole batch.
 */
export function createWorker(settings: WorkerSettings): SqsWorker {
  const payments = createWorkerPayments(settings);
  return async ({ Records }) => {
    const batchItemFailures = [];
    for (const { messageId, body } of Records) {
      try {
        await payments.receive(fromJob(JSON.parse(body)));
      } catch (error) {
        const reason = error instanceof Error ? error.message : typeof error;
        console.error('payment job failed', messageId, reason);
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
}

/**
 * The queues, here made by the SDK. SQS delivers a failed message again after `visibilityTimeout`:
 * use at least six times the time limit of the worker's function. After `maxReceiveCount`
 * deliveries the message is in the dead-letter queue, where a person decides.
 */
export async function createQueues(
  sqs: SQSClient,
  { name = 'payments', visibilityTimeout = 180, maxReceiveCount = 100 } = {},
) {
  const days14 = { MessageRetentionPeriod: '1209600' };
  const { QueueUrl: deadUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: `${name}-dead`, Attributes: days14 }),
  );
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: Attributes!.QueueArn,
    maxReceiveCount,
  });
  const { QueueUrl: queueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: { ...days14, VisibilityTimeout: String(visibilityTimeout), RedrivePolicy },
    }),
  );
  return { queueUrl: queueUrl!, deadUrl: deadUrl! };
}
