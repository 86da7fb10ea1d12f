/** Whether a body ends where its head says, so that it may be read in one go. */
import type { FetchRequest } from './read-body.js';

interface BunServer {
  requestIP?(request: unknown): object | null;
}

/**
 * Whether the request came over a socket of Bun's server: its parser ends the body at the declared length, and a reply can end
 * the connection. The server has no address for any other Request, nor for a copy: there the header may be one of another body.
 * Deno and workerd cannot be asked.
 *
 * @param host Bun's server, which it gives a handler beside the request
 */
export function isBounded(request: FetchRequest, host: unknown): boolean {
  try {
    return 'Bun' in globalThis && (host as BunServer | null | undefined)?.requestIP?.(request) != null;
  } catch {
    // For what is no Request of Bun, such as a Proxy.
    return false;
  }
}
