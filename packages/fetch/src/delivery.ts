import type { Delivery } from '@paylink/core';
import { isBounded } from './bounded.js';
import { letGo } from './let-go.js';
import { readBody, type FetchRequest } from './read-body.js';

/** A delivery that is answered by a Response. */
export interface FetchDelivery extends Delivery {
  /** Whether a 401 and a 408 end the connection: only a host of HTTP/1.1 lets a Response do so. Default: no. */
  readonly closes?: boolean | undefined;
  /** Called before a reply of ours: stops what the sender still sends, once the reply had time to go out. */
  cancel?(): void;
}

/**
 * Makes the delivery of a Fetch Request.
 *
 * @param host what the host's call gave beside the request, such as Bun's server: a body that this bounds is read in one go
 */
export function deliveryOf(request: FetchRequest, host?: unknown): FetchDelivery {
  const bounded = isBounded(request, host);
  return {
    method: request.method,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limits) => readBody(request, limits, bounded),
    closes: bounded,
    cancel: () => {
      // Asked first: the getter of a body makes a stream on Bun, also of one that has been read.
      const body = request.bodyUsed === true ? undefined : request.body;
      if (body?.locked === false && typeof body.getReader === 'function') letGo(body.getReader());
    },
  };
}
