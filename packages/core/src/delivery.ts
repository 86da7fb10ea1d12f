/** Bounds on reading a body. The adapter enforces both. */
export interface BodyLimits {
  /** The most bytes to read. One more byte is `body_too_large`, at once. */
  readonly bodyLimit: number;
  /** Milliseconds for the whole body, however slowly it arrives. Later is `body_timeout`. */
  readonly bodyTimeout: number;
}

/** One HTTP request as an adapter hands it over. You can write an adapter for another host with it. */
export interface Delivery {
  /** The request's method. Leave it out if the host routes methods itself. */
  readonly method?: string | undefined;
  /** A header by its lower-case name. Repeated headers are joined with ", ", as Node and Fetch do. */
  header(name: string): string | undefined;
  /**
   * The raw bytes, exactly as received. The receiver calls it at most once, in the same tick as
   * `receive`, and only after it accepted the headers.
   *
   * @throws WebhookError `body_too_large`, `body_timeout`, `incomplete_body` or `body_consumed`.
   */
  body(limits: BodyLimits): Promise<Uint8Array>;
}

/** Headers as Fetch has them. */
export interface HeadersLike {
  get(name: string): string | null;
}

/** Headers as Node has them, or a Fetch `Headers`. */
export type WebhookHeaders =
  HeadersLike | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Looks a header up by its lower-case name, in any case of the given names. A repeated header
 * gives an array, which is neither a signature nor an event kind.
 */
export function lookUp(headers: WebhookHeaders | null | undefined, name: string): unknown {
  if (typeof headers?.get === 'function') return (headers as HeadersLike).get(name);
  const lines = Object.entries(headers ?? {}).filter(
    ([key, value]) => key.toLowerCase() === name && value !== undefined,
  );
  return lines.length > 1 ? lines : lines[0]?.[1];
}
