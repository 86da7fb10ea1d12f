/** Work whose handler returned a Response that is not 2xx is rolled back. */

/** Undoes the work under a store, and carries the response out. */
export class RolledBack extends Error {
  // No field that a host could take for its reply.
  readonly #response: Response;

  constructor(response: Response) {
    super(`the handler returned a response of status ${response.status}, so its work was rolled back`);
    this.#response = response;
  }

  /** The response, where the error is of this class. */
  static responseOf(error: unknown): Response | undefined {
    return error instanceof RolledBack ? error.#response : undefined;
  }
}

/** By the tag and not by instanceof: a host may have a Response of its own. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

/** Wraps handlers, a map or one function: a returned Response that is not 2xx is thrown, so that the store rolls the work back. */
export function holdBack<Handlers extends object>(handlers: Handlers, answerOf: AnswerOf): Handlers {
  const hold = (handler: unknown): unknown => (typeof handler === 'function' ? held(handler as Handler, answerOf) : handler);
  if (typeof handlers !== 'object' || handlers === null) return hold(handlers) as Handlers;
  return Object.fromEntries(Object.entries(handlers).map(([kind, handler]) => [kind, hold(handler)])) as Handlers;
}

type Handler = (event: unknown, context: unknown) => unknown;
/** What a handler answered: a host may have other ways than to return it. */
type AnswerOf = (value: unknown, context: unknown) => unknown;

function held(handler: Handler, answerOf: AnswerOf): Handler {
  const holding: Handler = async (event, context) => {
    const value = answerOf(await handler(event, context), context);
    if (isResponse(value) && !value.ok) throw new RolledBack(value);
    return value;
  };
  // With the mark that it may have: see `keyedByTenant`.
  return Object.assign(holding, handler);
}
