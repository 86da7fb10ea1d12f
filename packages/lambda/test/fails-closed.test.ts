import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { paymentWebhook, type LambdaEvent } from '../src/index.js';

const secret = TEST_SECRET;
const { rawBody, headers } = signedDelivery({ secret });
const event = { httpMethod: 'POST', headers, body: rawBody.toString(), isBase64Encoded: false };

it('says that something parsed the body first if the body is not text', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const credit = vi.fn();
  const parsed = { ...event, body: JSON.parse(event.body) as string };
  const result = await paymentWebhook({ secret }, credit)(parsed);
  expect([result.statusCode, result.body]).toEqual([500, '{"error":"body_consumed"}']);
  expect(String(logged.mock.lastCall?.[0])).toContain('Remove httpJsonBodyParser');
  expect(credit).not.toHaveBeenCalled();
  logged.mockRestore();
});

it('answers 401 if the event of a signature has no body', async () => {
  const logger = { warn: vi.fn(), error: vi.fn() };
  for (const body of [null, undefined]) {
    const result = await paymentWebhook({ secret, logger }, vi.fn())({ ...event, body });
    expect([result.statusCode, result.body]).toEqual([401, '{"error":"invalid_signature"}']);
  }
});

/** As AWS documents them, without some fields that nothing here reads. */
const others: Readonly<Record<string, unknown>> = {
  SQS: { Records: [{ messageId: '1', body: event.body, attributes: {}, eventSource: 'aws:sqs' }] },
  SNS: { Records: [{ EventSource: 'aws:sns', Sns: { Message: event.body } }] },
  EventBridge: {
    version: '0',
    'detail-type': 'payment',
    detail: JSON.parse(event.body) as unknown,
  },
  'a DynamoDB stream': { Records: [{ eventName: 'INSERT', dynamodb: { Keys: {} } }] },
  'a direct invocation': JSON.parse(event.body) as unknown,
  'an empty object': {},
  'a request context without a request': { requestContext: {} },
  'a mapping template without a method': { headers, rawBody: event.body },
  'a mapping template with a body': { headers, body: event.body },
  undefined,
  null: null,
  text: event.body,
};

it.each(Object.entries(others))(
  'rejects %s, so that no queue takes the message for done',
  { tags: ['O13', 'P16'] },
  async (_name, other) => {
    const credit = vi.fn();
    const invoked = paymentWebhook({ secret }, credit)(other as LambdaEvent);
    await expect(invoked).rejects.toThrow(
      /^paymentWebhook received an event that is not an HTTP request: connect it to API Gateway with the proxy integration/,
    );
    expect(credit).not.toHaveBeenCalled();
  },
);

it('takes the filled headers of an event whose other form is empty', async () => {
  for (const empty of [{}, null, undefined]) {
    const lists = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    );
    const singles = await paymentWebhook(
      { secret },
      () => undefined,
    )({ ...event, multiValueHeaders: empty });
    const multiple = await paymentWebhook(
      { secret },
      () => undefined,
    )({ ...event, headers: empty, multiValueHeaders: lists });
    expect([singles.statusCode, multiple.statusCode]).toEqual([200, 200]);
  }
});

it('reads no field of an event from a polluted prototype', { tags: 'R04' }, async () => {
  const fields = { httpMethod: 'POST', headers, body: event.body };
  onTestFinished(() => {
    for (const name of Object.keys(fields)) Reflect.deleteProperty(Object.prototype, name);
  });
  for (const [name, value] of Object.entries(fields)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true });
  }
  const credit = vi.fn();
  const invoked = paymentWebhook({ secret }, credit)({ Records: [] } as LambdaEvent);
  await expect(invoked).rejects.toThrow(/an event that is not an HTTP request/);
  expect(credit).not.toHaveBeenCalled();
});
