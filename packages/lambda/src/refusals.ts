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
    if (!isResult(value) || (value.statusCode >= 200 && value.statusCode < 300)) return value;
    const { statusCode } = value;
    throw new Error(
      `the handler returned { statusCode: ${statusCode} }, so the notification is not acknowledged; throw an error instead`,
    );
  };
  // With the mark that it may have: see `keyedByTenant`.
  return Object.assign(refusing, handler);
}

const FIELDS = new Set(['statusCode', 'statusDescription', 'headers', 'multiValueHeaders', 'cookies', 'body', 'isBase64Encoded']);

/** Not the answer of an HTTP client, which has a `statusCode` too. */
function isResult(value: unknown): value is { readonly statusCode: number } {
  if (typeof value !== 'object' || value === null) return false;
  const { statusCode } = value as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' && Object.keys(value).every((field) => FIELDS.has(field));
}
