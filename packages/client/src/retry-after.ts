/**
 * Milliseconds that a `Retry-After` asks to wait (RFC 9110 section 10.2.3): seconds, or a date in the form that RFC 9110 requires
 * of senders. Anything else is ignored.
 */
export function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,10}$/.test(header)) return Number(header) * 1000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header))
    return undefined;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
