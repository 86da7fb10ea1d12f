/** Makes every error that a handler throws safe for the host's own error handling. */
import { isWebhookError } from './errors.js';

/**
 * Fields by which an error words a host's reply: of Express, Koa, Fastify, Nest, h3 and http-errors
 * (status to expose), Boom, superagent and axios (output, response), Hono (getResponse, res), Elysia
 * (toResponse) and Next.js (digest).
 */
const REPLY_FIELDS = new Set([
  ...['status', 'statusCode', 'statusText', 'statusMessage', 'headers', 'expose', 'body', 'reply'],
  ...['output', 'response', 'getResponse', 'getStatus', 'res', 'toResponse', 'digest'],
]);

const ENGINE_GETTERS = new Set(['stack', '__proto__']);

/** Stands for an error that a host must not see. `cause` is the thrown error, if it can be read. */
export class HandlerError extends Error {
  // Stated, because some hosts read the cause for fields that an error lacks.
  readonly status = 500;
  readonly statusCode = 500;
  readonly expose = false;
}
HandlerError.prototype.name = 'HandlerError';

/**
 * Returns an error that makes a host answer 500 with no header, body or message of its own. An error
 * that cannot word a reply is returned as it is. Every other thrown value is wrapped: a status of 200,
 * as errors of HTTP clients carry, would acknowledge a failed credit.
 */
export function hostError(thrown: unknown): Error {
  try {
    // A Proxy has another tag than the Error behind it. Its traps, and getters, could answer
    // differently later, so nobody may read them again.
    if (!isError(thrown)) return standInFor(thrown);
    if (isWebhookError(thrown) && hasOwnReply(thrown)) return thrown;
    const fields = fieldsOf(thrown);
    if (fields.some(({ name, isGetter }) => isGetter && !ENGINE_GETTERS.has(name))) {
      return standInFor(thrown);
    }
    if (thrown instanceof HandlerError) return thrown;
    // Koa 2 answers 404 to ENOENT, and Koa writes to an error.
    const isSafe =
      Object.isExtensible(thrown) &&
      (thrown as { code?: unknown }).code !== 'ENOENT' &&
      !fields.some(({ name }) => REPLY_FIELDS.has(name));
    return isSafe ? thrown : standInFor(thrown, { cause: thrown });
  } catch {
    return new HandlerError('the handler threw an error that cannot be read');
  }
}

/** Reads the thrown value once, and has its message and its stack. */
function standInFor(thrown: unknown, options?: ErrorOptions): HandlerError {
  const error = new HandlerError(`the handler threw ${describe(thrown)}`, options);
  const { stack } = Object(thrown) as Error;
  if (typeof stack === 'string') error.stack = stack;
  return error;
}

/** Whether the value is an Error, also of another realm. By its tag, which no Proxy has. */
export function isError(value: unknown): value is Error {
  const { isError: isGenuine } = Error as { isError?: (value: unknown) => boolean };
  if (typeof isGenuine === 'function' && !isGenuine(value)) return false;
  return Object.prototype.toString.call(value) === '[object Error]';
}

/** Whether code and status are values, which no getter can change. */
function hasOwnReply(error: object): boolean {
  return ['code', 'status'].every(
    (name) => Object.getOwnPropertyDescriptor(error, name)?.value !== undefined,
  );
}

interface Field {
  readonly name: string;
  readonly isGetter: boolean;
}

/** The fields of an error, inherited ones too, without a call of any getter. */
function fieldsOf(error: object | null): Field[] {
  if (error === null) return [];
  const own: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(error);
  const fields: Field[] = Object.entries(own).map(([name, field]) => ({
    name,
    isGetter: field.get !== undefined,
  }));
  return fields.concat(fieldsOf(Object.getPrototypeOf(error) as object | null));
}

/** The thrown value in one line. */
function describe(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null;
  if (isObject && !(thrown instanceof Error)) return 'an object that is not an Error';
  // The caller catches the error of a toString that throws.
  return String(thrown).replace(/\s+/g, ' ');
}
