import type { Delivery, Reply } from '@paylink/core';
import { letGo } from './let-go.js';
import { readBody, type FetchRequest } from './read-body.js';

/** A delivery whose reply is a Response. */
export type FetchDelivery = Delivery & {
  /** True if a Response can close the connection, as on HTTP/1.1 hosts. Default: false. */
  readonly closes?: boolean | undefined;
  /** The request, so that `toResponse` can discard an unread body. */
  readonly request?: FetchRequest | undefined;
};

/**
 * Creates a delivery from a Fetch Request.
 *
 * @param host the second argument of the host's call, such as Bun's server
 * @param kept the bytes from an earlier `arrayBuffer()`, if the host kept them
 */
export function deliveryOf(
  request: FetchRequest,
  host?: unknown,
  kept?: Promise<ArrayBuffer>,
): FetchDelivery {
  return {
    method: request.method,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limits) => readBody(request, limits, kept),
    closes: isBunServer(host),
    request,
  };
}

/** Detects Bun's server, which speaks HTTP/1.1 and which Bun passes beside the request. */
function isBunServer(host: unknown): boolean {
  const { requestIP } = Object(host) as { readonly requestIP?: unknown };
  return 'Bun' in globalThis && typeof requestIP === 'function';
}

/**
 * Creates the Response for a reply. A 401 or 408 closes the connection if the delivery allows it.
 * After any other error, the host reads the rest of the body. Closing early could lose the reply.
 */
export function toResponse(delivery: FetchDelivery, { status, headers, body }: Reply): Response {
  const { body: sent, bodyUsed } = delivery.request ?? {};
  const isUnread = bodyUsed !== true && sent?.locked === false;
  if (isUnread && typeof sent.getReader === 'function') letGo(sent.getReader());
  const isClosing = delivery.closes === true && (status === 401 || status === 408);
  return new Response(delivery.method === 'HEAD' ? null : body, {
    status,
    headers: { ...headers, ...(isClosing && { connection: 'close' }) },
  });
}
