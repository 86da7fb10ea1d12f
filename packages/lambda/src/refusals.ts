type Handler = (event: unknown, context: unknown) => unknown;

/**
 * Handlers, a map or one function, of which a returned `{ statusCode: 503 }` is thrown: it means that the notification was not taken, so
 * a store rolls the work back, the invocation fails, and nothing is acknowledged.
 */
export function throwRefusals<Handlers extends object>(handlers: Handlers): Handlers {
  if (typeof handlers === 'function') return throwing(handlers) as Handlers;
  if (typeof handlers !== 'object' || handlers === null) return handlers;
  const entries = Object.entries(handlers as Record<string, unknown>).map(
    ([kind, handler]) => [kind, typeof handler === 'function' ? throwing(handler as Handler) : handler] as const,
  );
  return Object.fromEntries(entries) as Handlers;
}

function throwing(handler: Handler): Handler {
  const refusing: Handler = async (event, context) => {
    const value = await handler(event, context);
    if (!isResult(value)) return value;
    const { statusCode } = value;
    if (Number(statusCode) >= 200 && Number(statusCode) < 300) return value;
    throw new Error(
      `the handler returned { statusCode: ${statusCode} }, so the notification is not acknowledged; throw an error instead`,
    );
  };
  // With the mark that it may have: see `keyedByTenant`.
  return Object.assign(refusing, handler);
}

const FIELDS = new Set(['statusCode', 'statusDescription', 'headers', 'multiValueHeaders', 'cookies', 'body', 'isBase64Encoded']);

/**
 * A result of Lambda, also with its status as text, which API Gateway takes too. With fields of the merchant's own only where the status
 * is one of HTTP: a row of a database can have a `statusCode` as well. Not the answer of an HTTP client, which is a stream or has one
 * for its body, and no Error, which core throws as it is.
 */
function isResult(value: unknown): value is { readonly statusCode: number | string } {
  if (Object.prototype.toString.call(value) !== '[object Object]') return false;
  const { statusCode, body } = value as { readonly statusCode?: unknown; readonly body?: unknown };
  if (!['number', 'string'].includes(typeof statusCode) || isStream(value) || isStream(body)) return false;
  return /^[1-5]\d\d$/.test(String(statusCode)) || Object.keys(value as object).every((field) => FIELDS.has(field));
}

function isStream(value: unknown): boolean {
  return typeof (value as { readonly pipe?: unknown } | null | undefined)?.pipe === 'function';
}
