import { deliveryOf as deliveryOfRequest, type FetchDelivery } from '@paylink/fetch';
import type { Context, ExecutionContext } from 'hono';

/** Reads from the Request: Workers, Bun and Deno have nothing else. */
export function deliveryOf({ req, env }: Context): FetchDelivery {
  return deliveryOfRequest(req.raw, env);
}

/** Workers have one. On other hosts Hono's getter throws. */
export function executionContextOf(c: Context): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
