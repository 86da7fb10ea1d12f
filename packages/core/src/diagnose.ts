import { search, type DiagnoseOptions, type Diagnosis } from './diagnosis/search.js';

export type { Diagnosis } from './diagnosis/search.js';

/**
 * Finds out why a signature does not match: undoes the usual changes to bodies, signatures and
 * secrets until the signature matches. For development and support: takes up to a few seconds, and
 * lets the event loop run. Undoes only changes to the signature if the body is longer than 100,000
 * bytes, and stops after hashing about 16,000,000 bytes. The cause can then be `body_too_complex`
 * or `unknown`.
 *
 * Never throws for a body, signature or secret of any type. The result never contains a secret, a
 * signature or a body.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  return search(options, { body: 100_000, work: 16_000_000 });
}
