import { createReceiver, WebhookError, type ConfirmedPayment, type Delivery, type EventTypes, type Reply } from '@paylink/core';
import type { NoEvents, ReceiverHandlers, ReceiverOptions, SchemasOf } from '@paylink/core';
import type { LambdaContext, LambdaEvent, LambdaHost, LambdaResult } from './lambda.js';
import { throwRefusals } from './refusals.js';

export type { LambdaContext, LambdaEvent, LambdaHost, LambdaResult } from './lambda.js';
export type LambdaHandler = (event: LambdaEvent, context?: LambdaContext) => Promise<LambdaResult>;

/**
 * Makes a Lambda handler that verifies a notification before any code of yours runs. What your handler throws rejects the
 * invocation, so that Lambda's own error handling sees it.
 *
 * @throws ConfigurationError that names the option or the handler, and the fault.
 */
export function paymentWebhook<
  const Events extends EventTypes = NoEvents,
  Payment extends ConfirmedPayment = never,
  Scope extends object = never,
>(
  options: ReceiverOptions<SchemasOf<Events>, Payment, Scope, LambdaHost>,
  handlers: ReceiverHandlers<SchemasOf<Events>, Payment, Scope, LambdaHost>,
): LambdaHandler {
  const receiver = createReceiver<SchemasOf<Events>, Payment, Scope, LambdaHost>(options, throwRefusals(handlers));
  return async (event, context) => resultOf(event, await receiver.receive(deliveryOf(event), { event, context }));
}

const BODY_CONSUMED =
  'something has parsed event.body before this function, so the bytes that were signed are gone. Leave httpJsonBodyParser and the like ' +
  'off this function';

function deliveryOf(event: LambdaEvent): Delivery {
  return {
    method: event.httpMethod ?? event.requestContext?.http?.method,
    header: (name) => headerOf(event, name),
    body: async ({ bodyLimit }) => {
      const text: unknown = event.body ?? '';
      if (typeof text !== 'string') throw new WebhookError('body_consumed', { message: BODY_CONSUMED });
      const encoding = event.isBase64Encoded === true ? 'base64' : 'utf8';
      if (Buffer.byteLength(text, encoding) > bodyLimit) throw new WebhookError('body_too_large');
      return Buffer.from(text, encoding);
    },
  };
}

/** Where both forms are given, the single one has only the last of a repeated header. */
function headerOf({ multiValueHeaders, headers }: LambdaEvent, name: string): string | undefined {
  const given = Object.entries<string | readonly string[] | undefined>(multiValueHeaders ?? headers ?? {});
  const lines = given.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return lines.length === 0 ? undefined : lines.join(', ');
}

function resultOf({ headers: single, multiValueHeaders: multiple }: LambdaEvent, { status, headers, body }: Reply): LambdaResult {
  const result = { statusCode: status, body, isBase64Encoded: false };
  if (single || !multiple) return { ...result, headers };
  return { ...result, multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) };
}
