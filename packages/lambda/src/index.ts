import { ConfigurationError, createReceiver, WebhookError } from '@paylink/core';
import type { Delivery, EventTypes, Handlers, NoEvents, Reply } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import type { LambdaContext, LambdaEvent, LambdaHost, LambdaResult } from './lambda.js';

export type { LambdaContext, LambdaEvent, LambdaHost, LambdaResult } from './lambda.js';
export type LambdaHandler = (event: LambdaEvent, context?: LambdaContext) => Promise<LambdaResult>;

/**
 * Makes a Lambda handler that verifies a notification before any of your code runs. Rejects the
 * invocation if the event is not an HTTP request.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault
 */
export function paymentWebhook<const Events extends EventTypes = NoEvents>(
  options: ReceiverOptions<SchemasOf<Events>, LambdaHost>,
  handlers: Handlers<SchemasOf<Events>, LambdaHost>,
): LambdaHandler {
  const receiver = createReceiver<SchemasOf<Events>, LambdaHost>(options, handlers);
  return async (event, context) => {
    requireHttp(event);
    return resultOf(event, await receiver.receive(deliveryOf(event), { event, context }));
  };
}

const BODY_CONSUMED =
  'other code parsed event.body before this function, so the signed bytes are gone. Remove ' +
  'httpJsonBodyParser and similar middleware from this function';

/**
 * Rejects other events: SQS, SNS and EventBridge count every result as success and would delete the
 * message.
 */
function requireHttp(event: LambdaEvent | undefined): void {
  const { headers, multiValueHeaders, requestContext } = Object(event) as LambdaEvent;
  if (headers ?? multiValueHeaders ?? requestContext?.http) return;
  const problem =
    'got an event that is not an HTTP request: connect it to API Gateway, a function URL';
  throw new ConfigurationError('paymentWebhook', `${problem} or a load balancer`);
}

function deliveryOf(event: LambdaEvent): Delivery {
  return {
    method: event.httpMethod ?? event.requestContext?.http?.method,
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

/**
 * Reads the list form first, because the single form has only the last line of a repeated header.
 */
function headerOf({ multiValueHeaders, headers }: LambdaEvent, name: string): string | undefined {
  const multiple = Object.entries(multiValueHeaders ?? {});
  const entries = multiple.length > 0 ? multiple : Object.entries(headers ?? {});
  const lines = entries.flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
  return lines.length === 0 ? undefined : lines.join(', ');
}

/** Makes the result. A load balancer that sent header lists ignores single headers. */
function resultOf(event: LambdaEvent, { status, headers, body }: Reply): LambdaResult {
  const result = { statusCode: status, body, isBase64Encoded: false };
  if (event.headers || !event.multiValueHeaders) return { ...result, headers };
  const lists = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
  return { ...result, multiValueHeaders: Object.fromEntries(lists) };
}
