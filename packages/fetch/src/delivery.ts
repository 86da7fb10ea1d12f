import type { Delivery } from '@paylink/core';
import { readBody } from './read-body.js';

/** Makes the delivery of a Fetch Request. */
export function deliveryOf(request: Request): Delivery {
  return {
    method: request.method,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limits) => readBody(request, limits),
  };
}
