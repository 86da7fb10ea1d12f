import { createBudget, pause } from './diagnosis/budget.js';
import { search, type DiagnoseOptions, type Diagnosis } from './diagnosis/search.js';

export type { DiagnosisCode } from './diagnosis/codes.js';
export type { DiagnoseOptions, Diagnosis, DiagnosisCause } from './diagnosis/search.js';

const LIMITS = {
  body: Infinity,
  text: 16_777_216,
  parsed: 65_536,
  bytes: 8_388_608,
  slice: 1_048_576,
  sliceTime: 10,
};

/**
 * Finds out why a signature does not match. Undoes the usual changes to bodies, signatures and
 * secrets until the signature matches. For development and support: takes up to two seconds, in
 * slices of about 10 ms that let the event loop run. Verifiers never accept a variant that this
 * function found.
 *
 * Does not reserialise bodies of more than 65,536 bytes or 64 levels of nesting. If no other cause
 * matches, the cause is then `body_too_complex`.
 *
 * Never throws. The result never contains a secret, a signature or a body.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const rest = (): Promise<void> => pause(0, { keepsProcess: true });
  return search(options, createBudget({ ...LIMITS, rest }));
}
