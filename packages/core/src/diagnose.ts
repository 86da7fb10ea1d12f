import { createBudget } from './diagnosis/budget.js';
import { search, type DiagnoseOptions, type Diagnosis } from './diagnosis/search.js';

export type { Diagnosis } from './diagnosis/search.js';

const LIMITS = {
  body: Infinity,
  text: 16_777_216,
  parsed: 65_536,
  bytes: 8_388_608,
  slice: 1_048_576,
  sliceTime: 10,
  rest: () => new Promise<void>((resolve) => setTimeout(resolve, 0)),
};

/**
 * Finds out why a signature does not match: undoes the usual changes to bodies, signatures and
 * secrets until the signature matches. For development and support: takes up to two seconds, in
 * slices of about 10 ms that let the event loop run. Does not reserialise bodies of more than
 * 65,536 bytes or 64 levels of nesting: the cause is then `body_too_complex`, unless another cause
 * matches.
 *
 * Never throws. The result never contains a secret, a signature or a body.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  return search(options, createBudget(LIMITS));
}
