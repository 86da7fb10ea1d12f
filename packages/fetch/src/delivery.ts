import type { Delivery } from '@paylink/core';
import { letGo } from './let-go.js';
import { readBody, type FetchRequest } from './read-body.js';

/** A delivery that is answered by a Response. */
export interface FetchDelivery extends Delivery {
  /** Whether a 401 ends the connection: only a host of HTTP/1.1 lets a Response do so. Default: no. */
  readonly closes?: boolean | undefined;
  /** Called before a reply of ours: stops what the sender still sends, once the reply had time to go out. */
  cancel?(): void;
}

/** Makes the delivery of a Fetch Request. */
export function deliveryOf(request: FetchRequest): FetchDelivery {
  return {
    method: request.method,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limits) => readBody(request, limits),
    cancel: () => {
      // Asked first: the getter of a body makes a stream on Bun, also of one that has been read.
      if (request.bodyUsed === true) return;
      const { body } = request;
      if (body && !body.locked && typeof body.getReader === 'function') letGo(body.getReader());
    },
  };
}
