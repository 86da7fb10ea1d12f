/**
 * Encodes a value as JSON: dates as `{ $date }`, bytes as `{ $bytes }` in base64. The value's own
 * keys that begin with $ get another $.
 */
export function toJson(value: unknown): unknown {
  if (value instanceof Date) return { $date: value.toISOString() };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .map(([name, entry]) => [name.replace(/^\$/, '$$$$'), toJson(entry)]),
  );
}

/** Reverses `toJson`. */
export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'object' || value === null) return value;
  const { $date, $bytes } = value as { $date?: unknown; $bytes?: unknown };
  if (typeof $date === 'string') return new Date($date);
  if (typeof $bytes === 'string') return Buffer.from($bytes, 'base64');
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name.replace(/^\$\$/, '$$'), fromJson(entry)]),
  );
}
