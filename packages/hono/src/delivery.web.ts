import { deliveryOf as deliveryOfRequest } from '@paylink/fetch';
import type { Context } from 'hono';

/** Reads from the Request, because Workers, Bun and Deno have no other message. */
export function deliveryOf({ req, env }: Context): ReturnType<typeof deliveryOfRequest> {
  // Hono keeps the promise of an earlier `c.req.arrayBuffer()`, and declares it as its value.
  const { arrayBuffer: kept } = req.bodyCache;
  return deliveryOfRequest(req.raw, env, kept && Promise.resolve(kept));
}
