import { ConfigurationError, createReceiver, WebhookError } from '@paylink/core';
import type { Delivery, PaymentWebhook, Reply } from '@paylink/core';
import type { LambdaContext, LambdaEvent, LambdaHost, LambdaResult } from './lambda.js';

export { WebhookError, type WebhookEvent } from '@paylink/core';
export type { LambdaEvent, LambdaHost } from './lambda.js';
type LambdaHandler = (event: LambdaEvent, context?: LambdaContext) => Promise<LambdaResult>;

const NOT_HTTP =
  'received an event that is not an HTTP request: connect it to API Gateway with the proxy ' +
  'integration, a function URL or a load balancer';
const BODY_CONSUMED =
  'other code parsed event.body before this function, so the signed bytes are gone. Remove ' +
  'httpJsonBodyParser and similar middleware from this function';

/**
 * Creates a Lambda handler that verifies a notification, runs your handler and replies. If the
 * event is not an HTTP request, the invocation fails, because SQS, SNS and EventBridge count every
 * result as a success and would delete the message.
 *
 * @function
 */
export const paymentWebhook: PaymentWebhook<LambdaHost, LambdaHandler> = (options, handlers) => {
  const receiver = createReceiver(options, handlers);
  return async (event, context) => {
    // Reads only own fields, so that a polluted prototype adds no method or header.
    const own = { __proto__: null, ...event } as LambdaEvent;
    return resultOf(own, await receiver.receive(deliveryOf(own), { event, context }));
  };
};

/** @throws ConfigurationError if the event is not an HTTP request */
function deliveryOf(event: LambdaEvent): Delivery {
  const method = event.httpMethod ?? event.requestContext?.http?.method;
  if (typeof method !== 'string') throw new ConfigurationError('paymentWebhook', NOT_HTTP);
  return {
    method,
    header: (name) => headerOf(event, name),
    async body({ bodyLimit }) {
      const text: unknown = event.body ?? '';
      if (typeof text !== 'string') {
        throw new WebhookError('body_consumed', { message: BODY_CONSUMED });
      }
      const encoding = event.isBase64Encoded === true ? 'base64' : 'utf8';
      if (Buffer.byteLength(text, encoding) > bodyLimit) throw new WebhookError('body_too_large');
      return Buffer.from(text, encoding);
    },
  };
}

/** Prefers the list form: the single form has only the last line of a repeated header. */
function headerOf({ multiValueHeaders, headers }: LambdaEvent, name: string): string | undefined {
  const lists = Object.entries(multiValueHeaders ?? {});
  const entries = lists.length > 0 ? lists : Object.entries(headers ?? {});
  const lines = entries.flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
  return lines.length === 0 ? undefined : lines.join(', ');
}

/** A load balancer that sent header lists ignores single headers. */
function resultOf(event: LambdaEvent, { status, headers, body }: Reply): LambdaResult {
  const result = { statusCode: status, body, isBase64Encoded: false };
  if (event.headers || !event.multiValueHeaders) return { ...result, headers };
  const lists = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
  return { ...result, multiValueHeaders: Object.fromEntries(lists) };
}
