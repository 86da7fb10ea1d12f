interface Answerable {
  res?: unknown;
  next?: unknown;
}

/** Stands in for `req.res` while a handler runs, because Express's own code reads these fields. */
const STAND_IN = Object.freeze({ statusCode: 200, headersSent: false, getHeader: ignore });

/**
 * Takes the means to answer, which Express keeps in `req.res` and `req.next`, from the handlers.
 *
 * @returns a function that gives them back
 */
export function withoutReply(req: object): () => void {
  if (!('res' in req)) return ignore;
  const answerable: Answerable = req;
  const { res, next } = answerable;
  answerable.res = STAND_IN;
  answerable.next = ignore;
  return () => {
    answerable.res = res;
    answerable.next = next;
  };
}

function ignore(): undefined {
  return undefined;
}
