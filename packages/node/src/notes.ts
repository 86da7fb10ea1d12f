import type { IncomingMessage } from 'node:http';

/** What Paylink keeps of a request, by symbols that only their own file has. */
export type Notes = Record<symbol, unknown>;

/**
 * Where notes on a request are kept. A WeakMap of requests keeps V8's collector busy; and Express gives each request another prototype,
 * so that V8 makes a new hidden class for every property which is added after that. The state of its stream stays as it is.
 */
export function notesOf(req: IncomingMessage): Notes {
  const { _readableState: state } = Object(req) as { readonly _readableState?: Notes };
  return state ?? (Object(req) as Notes);
}
