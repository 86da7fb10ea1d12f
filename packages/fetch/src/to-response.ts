import type { Reply } from '@paylink/core';
import type { FetchDelivery } from './delivery.js';

/**
 * Makes the Response of a reply. A 401 and a 408 close the connection if the delivery allows it.
 * The host reads the rest of any other refused body, and a close would overtake the reply.
 */
export function toResponse(delivery: FetchDelivery, { status, headers, body }: Reply): Response {
  delivery.cancel?.();
  const isClosing = delivery.closes === true && (status === 401 || status === 408);
  return new Response(delivery.method === 'HEAD' ? null : body, {
    status,
    headers: { ...headers, ...(isClosing && { connection: 'close' }) },
  });
}
