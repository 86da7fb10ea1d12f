import { deliveryOf as deliveryOfRequest, type FetchDelivery } from '@paylink/fetch';
import type { Context } from 'hono';

/** Reads from the Request: Workers, Bun and Deno have nothing else. */
export function deliveryOf({ req, env }: Context): FetchDelivery {
  return deliveryOfRequest(req.raw, env);
}
