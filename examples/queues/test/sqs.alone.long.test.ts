import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { SQSEvent } from 'aws-lambda';
import { createSqsServer } from 'local-aws-sqs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from '../../../test/servers/starting.js';
import { createWebhook, createWorker } from '../src/sqs.js';
import { startShop } from './shop.js';

let shop: Awaited<ReturnType<typeof startShop>>;
let server: Awaited<ReturnType<typeof createSqsServer>>;
let sqs: SQSClient;
let queueUrl: string;

beforeAll(async () => {
  shop = await startShop();
  const port = await freePort();
  server = await createSqsServer({ port, hostname: '127.0.0.1' });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  sqs = new SQSClient({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials });
  const Attributes = { VisibilityTimeout: '1' };
  const created = await sqs.send(new CreateQueueCommand({ QueueName: 'payments', Attributes }));
  queueUrl = created.QueueUrl!;
});
afterAll(async () => {
  sqs.destroy();
  server.close().closeAllConnections();
  await shop.close();
});

async function send(reference: string, secret = TEST_SECRET, client = sqs) {
  const { headers, rawBody } = signedDelivery({ secret, reference });
  const requestContext = { http: { method: 'POST' } };
  const body = rawBody.toString('base64');
  const event = { version: '2.0', headers, requestContext, body, isBase64Encoded: true };
  return (await createWebhook(TEST_SECRET, client, queueUrl)(event)).statusCode;
}

/** Does what AWS does: takes a batch, invokes, and deletes the messages that did not fail. */
async function invoke(): Promise<{ readonly received: number; readonly failed: number }> {
  const receiving = new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 });
  const { Messages = [] } = await sqs.send(receiving);
  const Records = Messages.map(({ MessageId, Body }) => ({ messageId: MessageId, body: Body }));
  const { batchItemFailures } = await createWorker(shop.payments)({ Records } as SQSEvent);
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId, ReceiptHandle } of Messages) {
    if (failed.has(MessageId!)) continue;
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return { received: Messages.length, failed: failed.size };
}

it('credits once what comes often, and keeps the message of an order that is unknown', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  await shop.add('sqs-1', 'sqs-forged');
  expect(await send('sqs-forged', 'a-secret-of-nobody')).toBe(401);
  const codes = await Promise.all(
    ['sqs-1', 'sqs-1', 'sqs-1', 'sqs-late'].map((each) => send(each)),
  );
  expect(codes).toEqual([200, 200, 200, 200]);
  let failed = 0;
  await vi.waitUntil(async () => (failed += (await invoke()).failed) > 0, { timeout: 20_000 });
  await shop.add('sqs-late');
  await vi.waitUntil(
    async () => {
      await invoke();
      return (await shop.creditsOf('sqs-late')) === 1 && (await shop.creditsOf('sqs-1')) === 1;
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(await shop.creditsOf('sqs-forged')).toBe(0);
  vi.restoreAllMocks();
}, 60_000);

it('answers no 2xx if SQS does not take the message', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const down = { send: () => Promise.reject(new Error('SQS is down')) } as unknown as SQSClient;
  expect(await send('sqs-1', TEST_SECRET, down)).toBe(503);
  vi.restoreAllMocks();
});
