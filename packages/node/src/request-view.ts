/**
 * Returns the request as handlers get it: without the means to answer, which Express keeps in `res`
 * and `next`. The request itself keeps them, because Express and other middleware read them there.
 */
export function withoutReply<Request extends object>(req: Request): Request {
  if (!('res' in req || 'next' in req)) return req;
  const hidden = { value: undefined, writable: true };
  return Object.create(req, { res: hidden, next: hidden }) as Request;
}
