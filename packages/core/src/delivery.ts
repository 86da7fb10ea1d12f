/** Limits for reading a body. The adapter enforces both. */
export interface BodyLimits {
  /** Maximum body size in bytes. A larger body throws `body_too_large` immediately. */
  readonly bodyLimit: number;
  /** Milliseconds for the whole body. A slower body throws `body_timeout`. */
  readonly bodyTimeout: number;
}

/** An HTTP request, as adapters pass it to a receiver. Implement it to support a new host. */
export interface Delivery {
  /** The request's method. Omit it if the host routes requests by method. */
  readonly method?: string | undefined;
  /** Returns a header by its lower-case name. Joins repeated headers with ", ". */
  header(name: string): string | undefined;
  /**
   * Returns the raw bytes, exactly as received. The receiver calls `body` at most once, in the same
   * tick as `receive`, and only after it has accepted the headers.
   *
   * @throws WebhookError `body_too_large`, `body_timeout`, `incomplete_body` or `body_consumed`
   */
  body(limits: BodyLimits): Promise<Uint8Array>;
}

/** Node's `req.headers`, or a Fetch `Headers` object. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the header with this lower-case name. An array, if repeated, is never valid. */
export function lookUp(headers: WebhookHeaders | null | undefined, name: string): unknown {
  if (typeof headers?.get === 'function') return (headers as Pick<Headers, 'get'>).get(name);
  const lines = Object(headers) as Readonly<Record<string, unknown>>;
  let found: unknown;
  for (const key of Object.keys(lines)) {
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const value = lines[key];
    if (value === undefined) continue;
    if (found !== undefined) return [found, value];
    found = value;
  }
  return found;
}
