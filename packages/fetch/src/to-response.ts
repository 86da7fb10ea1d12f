import type { Reply } from '@paylink/core';
import type { FetchDelivery } from './delivery.js';

/** Statuses sent before the end of the body, and every 401. */
const CLOSING = new Set([401, 405, 408, 413, 415]);

/**
 * Makes the Response of a reply. An early reply closes the connection if the delivery allows this.
 */
export function toResponse(delivery: FetchDelivery, { status, headers, body }: Reply): Response {
  delivery.cancel?.();
  const isClosing = delivery.closes === true && CLOSING.has(status);
  return new Response(delivery.method === 'HEAD' ? null : body, {
    status,
    headers: { ...headers, ...(isClosing && { connection: 'close' }) },
  });
}
