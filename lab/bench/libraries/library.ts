/** A way to verify a body, as its documentation shows it. */
export interface Library {
  readonly name: string;
  /** Signs the body in the library's own scheme, and gives the call that is measured. */
  prepare(body: Buffer): () => unknown;
}
