/**
 * Verified events as messages of Amazon SQS, between two Lambda functions. The 200 goes out when SQS has the message; the worker's
 * store on PostgreSQL is the record of what is done.
 */
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { createDispatcher, WebhookError, type NoEvents } from '@paylink/core';
import { paymentWebhook } from '@paylink/lambda';
import { postgresStore } from '@paylink/postgres';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Pool } from 'pg';
import { fromJob, toJob } from './job.js';
import { handlers, type Confirm, type Handlers, type Payment, type Transaction } from './orders.js';

interface WebhookSettings {
  readonly secret: string | undefined;
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly handlerTimeout?: number;
}

/** The function behind the URL that the service posts to. */
export function createWebhook({ secret, sqs, queueUrl, handlerTimeout = 5_000 }: WebhookSettings) {
  return paymentWebhook(
    { secret, handlerTimeout },
    {
      'payment.succeeded': async (event, { signal }) => {
        const message = new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(toJob(event)) });
        try {
          await sqs.send(message, { abortSignal: signal });
        } catch (cause) {
          throw new WebhookError('store_unavailable', { message: 'SQS did not take the message', cause });
        }
      },
    },
  );
}

interface WorkerSettings {
  readonly pool: Pool;
  readonly confirm: Confirm;
  readonly map?: Handlers;
}

/** The function that SQS invokes. Set `ReportBatchItemFailures` on its event source, or one failure repeats the whole batch. */
export function createWorker({ pool, confirm, map = handlers }: WorkerSettings): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const dispatcher = createDispatcher<NoEvents, Payment, Transaction, object>({ idempotency: postgresStore(pool), confirm }, map);
  return async ({ Records }) => {
    const batchItemFailures = [];
    for (const { messageId, body } of Records) {
      try {
        await dispatcher.dispatch(fromJob(JSON.parse(body)), {});
      } catch (error) {
        console.error('payment job failed', messageId, error instanceof Error ? error.message : typeof error);
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
}

/**
 * What to set, here by the SDK. SQS delivers a failed message again after `visibilityTimeout`: at least six times the time limit of
 * the worker's function. After `maxReceiveCount` times it is in the dead-letter queue, for a person to look at and send again.
 */
export async function createQueues(sqs: SQSClient, { name = 'payments', visibilityTimeout = 180, maxReceiveCount = 100 } = {}) {
  const days14 = { MessageRetentionPeriod: '1209600' };
  const { QueueUrl: deadUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `${name}-dead`, Attributes: days14 }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] }));
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes!.QueueArn, maxReceiveCount });
  const { QueueUrl: queueUrl } = await sqs.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: { ...days14, VisibilityTimeout: String(visibilityTimeout), RedrivePolicy },
    }),
  );
  return { queueUrl: queueUrl!, deadUrl: deadUrl! };
}
