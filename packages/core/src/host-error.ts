/** What a handler threw, in a form in which it cannot word the host's reply. */
import { isError } from './failure.js';

/**
 * The fields by which an error words a reply: of Express, Koa, Fastify, Nest, h3 and http-errors (status to expose), Boom,
 * superagent and axios (output, response), Hono (getResponse, res), Elysia (toResponse), Next.js (digest).
 */
const REPLY_FIELDS = [
  ...['status', 'statusCode', 'statusText', 'statusMessage', 'headers', 'expose', 'body', 'reply'],
  ...['output', 'response', 'getResponse', 'getStatus', 'res', 'toResponse', 'digest'],
];

/** Stands for an error that a host must not see as it is; `cause` is what the handler threw. */
export class HandlerError extends Error {
  // Stated, since some hosts look at the cause for what an error does not state.
  readonly status = 500;
  readonly statusCode = 500;
  readonly expose = false;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
HandlerError.prototype.name = 'HandlerError';

/** What was thrown, as an Error: hosts and error trackers can do little with anything else. */
export function toError(thrown: unknown): unknown {
  return isError(thrown) ? thrown : new HandlerError('the handler threw something that is not an Error', thrown);
}

/**
 * The error for the host's own error handling. A status of 200 that the error of an HTTP client carries would acknowledge a
 * failed credit, and its headers and message would reach the sender.
 */
export function hostError(error: unknown): unknown {
  if (error instanceof HandlerError) return error;
  // Without it as the cause, which a logger would read.
  if (!isReadable(error as Error)) return new HandlerError('the webhook handler threw an error that cannot be read');
  return mayWordReply(error as Error) ? new HandlerError('the webhook handler failed', error) : error;
}

/** Whether no getter or proxy throws at a host or a logger that reads the error. */
function isReadable(error: Error): boolean {
  try {
    return Object.values(error).concat(error.message, error.stack, error.cause, String(error)).length > 0;
  } catch {
    return false;
  }
}

function mayWordReply(error: Error): boolean {
  // Koa 2 answers 404 to ENOENT, and Koa writes to an error.
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOENT' || !Object.isExtensible(error) || REPLY_FIELDS.some((field) => field in error);
}

/** What the handler threw, in a line for the log. */
export function describeCause({ message, cause }: HandlerError): string {
  try {
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- what was thrown may be anything, and `[object Object]` is still a line
    return cause === undefined ? message : String(cause).replace(/\s+/g, ' ');
  } catch {
    // An object without a prototype has no text.
    return message;
  }
}
