/**
 * A Response that a handler returned. Here it is the reply; for core one that is not 2xx is a failure, since on other hosts it can only be
 * the answer of a service that the handler called. So it passes core in a wrapping.
 */

/** What a handler answered: a host may have other ways than to return it. */
export type AnswerOf = (value: unknown, context: unknown) => unknown;

class Returned {
  readonly response: Response;

  constructor(response: Response) {
    this.response = response;
  }
}

/** Undoes the work under a store, and carries the response out. */
class RolledBack extends Error {
  // No field that a host could take for its reply.
  readonly #response: Response;

  constructor(response: Response) {
    super(`the handler returned a response of status ${response.status}, so its work was rolled back`);
    this.#response = response;
  }

  static responseOf(error: unknown): Response | undefined {
    return error instanceof RolledBack ? error.#response : undefined;
  }
}

/** The Response of a handler, by what core gave or threw. */
export function responseOf(passed: unknown): Response | undefined {
  return passed instanceof Returned ? passed.response : RolledBack.responseOf(passed);
}

/**
 * Wraps handlers, a map or one function.
 *
 * @param answerOf under a store, where a Response that is not 2xx is thrown, so that the store rolls the work back
 */
export function carryResponses<Handlers extends object>(handlers: Handlers, answerOf: AnswerOf | undefined): Handlers {
  const carry = (handler: unknown): unknown => (typeof handler === 'function' ? carrying(handler as Handler, answerOf) : handler);
  if (typeof handlers !== 'object' || handlers === null) return carry(handlers) as Handlers;
  return Object.fromEntries(Object.entries(handlers).map(([kind, handler]) => [kind, carry(handler)])) as Handlers;
}

type Handler = (event: unknown, context: unknown) => unknown;

function carrying(handler: Handler, answerOf: AnswerOf | undefined): Handler {
  const carry = (returned: unknown, context: unknown): unknown => {
    const value = answerOf === undefined ? returned : answerOf(returned, context);
    if (!isResponse(value)) return value;
    if (answerOf !== undefined && !value.ok) throw new RolledBack(value);
    return new Returned(value);
  };
  // What is returned at once is carried at once: core sets no time limit for it.
  const carried: Handler = (event, context) => {
    const returned = handler(event, context);
    return isThenable(returned) ? Promise.resolve(returned).then((value) => carry(value, context)) : carry(returned, context);
  };
  // With the mark that it may have: see `keyedByTenant`.
  return Object.assign(carried, handler);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

/** By the tag and not by instanceof: a host may have a Response of its own. */
function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}
