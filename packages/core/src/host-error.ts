/** Makes every error of a handler safe for the host's own error handler. */
import { isWebhookError } from './errors.js';

/**
 * Error fields that shape a host's reply. Express, Koa, Fastify, Nest, h3 and http-errors: status
 * to expose. Boom, superagent, axios: output, response. Hono: getResponse, res. Elysia: toResponse.
 * Next.js: digest.
 */
const REPLY_FIELDS = new Set([
  ...['status', 'statusCode', 'statusText', 'statusMessage', 'headers', 'expose', 'body', 'reply'],
  ...['output', 'response', 'getResponse', 'getStatus', 'res', 'toResponse', 'digest'],
]);

const ENGINE_GETTERS = new Set(['stack', '__proto__']);

/** Replaces an error that a host must not see. `cause` is the thrown error, if it is readable. */
export class HandlerError extends Error {
  // Explicit, because some hosts read fields of the cause that the error lacks.
  readonly status = 500;
  readonly statusCode = 500;
  readonly expose = false;
}
HandlerError.prototype.name = 'HandlerError';

/**
 * Returns an error for which a host answers 500 without headers, body or message of its own.
 * Returns an error that cannot shape a reply unchanged, and wraps every other thrown value. An HTTP
 * client's error can carry status 200, which would acknowledge a failed credit.
 */
export function hostError(thrown: unknown): Error {
  try {
    // A Proxy has a different tag than the Error behind it. Proxy traps and getters could answer
    // differently later, so this function never reads them again.
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

/** Makes the replacement. Reads the thrown value once, and copies its message and stack. */
function standInFor(thrown: unknown, options?: ErrorOptions): HandlerError {
  const error = new HandlerError(`the handler threw ${describe(thrown)}`, options);
  const { stack } = Object(thrown) as Error;
  if (typeof stack === 'string') error.stack = stack;
  return error;
}

/**
 * Returns true for an Error, also from another realm. Checks the tag, which a Proxy does not have.
 */
export function isError(value: unknown): value is Error {
  const { isError: isGenuine } = Error as { isError?: (value: unknown) => boolean };
  if (typeof isGenuine === 'function' && !isGenuine(value)) return false;
  return Object.prototype.toString.call(value) === '[object Error]';
}

/** Returns true if code and status are plain values, which no getter can change. */
function hasOwnReply(error: object): boolean {
  return ['code', 'status'].every(
    (name) => Object.getOwnPropertyDescriptor(error, name)?.value !== undefined,
  );
}

interface Field {
  readonly name: string;
  readonly isGetter: boolean;
}

/** Returns the fields of an error, including inherited fields, without calling a getter. */
function fieldsOf(error: object | null): Field[] {
  if (error === null) return [];
  const own: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(error);
  const fields: Field[] = Object.entries(own).map(([name, field]) => ({
    name,
    isGetter: field.get !== undefined,
  }));
  return fields.concat(fieldsOf(Object.getPrototypeOf(error) as object | null));
}

/** Describes the thrown value in one line. */
function describe(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null;
  if (isObject && !(thrown instanceof Error)) return 'an object that is not an Error';
  // The caller catches an error of `toString`.
  return String(thrown).replace(/\s+/g, ' ');
}
