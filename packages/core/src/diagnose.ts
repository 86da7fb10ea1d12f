import { search, type DiagnoseOptions, type Diagnosis } from './diagnosis/search.js';

export type { Diagnosis } from './diagnosis/search.js';

/**
 * Finds out why a signature does not match. Undoes common changes to bodies, signatures and
 * secrets until the signature matches. Takes up to a few seconds without blocking the event loop,
 * so use it for development and support. Undoes only changes to the signature if the body is over
 * 100,000 bytes. Stops after hashing about 16,000,000 bytes. In both cases, the cause can be
 * `body_too_complex` or `unknown`.
 *
 * Never throws, even if the body, signature or secret has the wrong type. The result never
 * contains a secret, a signature or a body.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  return search(options, { body: 100_000, work: 16_000_000 });
}
