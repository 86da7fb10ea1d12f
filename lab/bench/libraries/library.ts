/** A verification as in its library's documentation. */
export interface Library {
  readonly name: string;
  /** Signs the body in the library's scheme, and returns the measured call. */
  prepare(body: Buffer): () => unknown;
}
