import { deliveryOf as deliveryOfRequest } from '@paylink/fetch';
import type { Context, ExecutionContext } from 'hono';

/** Reads from the Request, because Workers, Bun and Deno have no other message. */
export function deliveryOf({ req, env }: Context): ReturnType<typeof deliveryOfRequest> {
  // Hono keeps the promise of an earlier `c.req.arrayBuffer()`, and declares it as its value.
  const { arrayBuffer: kept } = req.bodyCache;
  return deliveryOfRequest(req.raw, env, kept && Promise.resolve(kept));
}

/** Returns the execution context of a Worker. On other hosts Hono's getter throws. */
export function executionContextOf(c: Context): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
