const BEGINS = /^\s*(?:begin|start\s+transaction)\b/i;
// Not ROLLBACK TO, which only goes back to a savepoint.
const ENDS = /^\s*(?:commit|end|abort|rollback|prepare\s+transaction)\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

/**
 * Whether what is given to `client.query` begins or ends a transaction. By the first word, so it is there to tell of a mistake
 * early and no proof: that is the server's.
 */
export function controlOf(query: unknown): 'begins' | 'ends' | undefined {
  const text = typeof query === 'string' ? query : (query as { readonly text?: unknown } | null | undefined)?.text;
  if (typeof text !== 'string') return undefined;
  if (BEGINS.test(text)) return 'begins';
  return ENDS.test(text) ? 'ends' : undefined;
}
