/** A Response that says no must not leave the work done that it says no to. */

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

/** Handlers, a map or one function, of which a returned Response that is not 2xx is thrown, so that the store rolls the work back. */
export function holdBack<Handlers extends object>(handlers: Handlers): Handlers {
  const hold = (handler: unknown): unknown => (typeof handler === 'function' ? held(handler as Handler) : handler);
  if (typeof handlers !== 'object' || handlers === null) return hold(handlers) as Handlers;
  return Object.fromEntries(Object.entries(handlers).map(([kind, handler]) => [kind, hold(handler)])) as Handlers;
}

type Handler = (event: unknown, context: unknown) => unknown;

function held(handler: Handler): Handler {
  const holding: Handler = async (event, context) => {
    const value = await handler(event, context);
    if (isResponse(value) && !value.ok) throw new RolledBack(value);
    return value;
  };
  // With the mark that it may have: see `keyedByTenant`.
  return Object.assign(holding, handler);
}
