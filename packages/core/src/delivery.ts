/** Bounds on the reading of a body; an adapter enforces both. */
export interface BodyLimits {
  /** The most bytes that may be read. One more is `body_too_large`, at once. */
  readonly bodyLimit: number;
  /** Milliseconds for the whole body, however slowly it arrives. Past it is `body_timeout`. */
  readonly bodyTimeout: number;
}

/** One HTTP request as an adapter hands it over. A third party can write one for another host. */
export interface Delivery {
  /** The request's method; left out where the host routes methods itself. */
  readonly method?: string | undefined;
  /** A header by its lower-case name; repeated headers joined with ", ", as Node and Fetch both do. */
  header(name: string): string | undefined;
  /**
   * The raw bytes, exactly as received. Called at most once, and only after the headers were accepted.
   *
   * @throws WebhookError `body_too_large`, `body_timeout`, `incomplete_body` or `body_consumed`.
   */
  body(limits: BodyLimits): Promise<Uint8Array>;
}

/** Headers as Fetch has them. */
export interface HeadersLike {
  get(name: string): string | null;
}

/** Headers as Node gives them, or a Fetch `Headers`. */
export type WebhookHeaders = HeadersLike | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Looks a header up by its lower-case name, in whatever case it was given. A repeated one is not a string, so that it can be
 * neither a signature nor an event kind.
 */
export function lookUp(headers: WebhookHeaders | null | undefined, name: string): unknown {
  if (typeof headers?.get === 'function') return (headers as HeadersLike).get(name);
  const record = (headers ?? {}) as Readonly<Record<string, unknown>>;
  let found: unknown;
  // Without a list of the keys, which every request would pay for.
  for (const key in record) {
    if (key !== name && (key.length !== name.length || key.toLowerCase() !== name)) continue;
    if (!Object.hasOwn(record, key) || record[key] === undefined) continue;
    found = found === undefined ? record[key] : [found, record[key]];
  }
  // An array is a repeated header, even with one entry: the caller refuses what is not a string.
  return found;
}
