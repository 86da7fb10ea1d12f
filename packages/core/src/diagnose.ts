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
 * Says why a signature does not match, or that it does: it undoes the usual changes to bodies, signatures and secrets until
 * the signature is right. For development and support, since it does far more work than a verifier: a second or two at most, in
 * slices of about 10 ms with the event loop running between them. Nothing that it finds is ever accepted by a verifier.
 *
 * A body of more than 65,536 bytes, or nested more than 64 deep, is not written again in other ways. If
 * nothing else is found, the cause is then `body_too_complex`.
 *
 * Never throws for any input, and its result holds no secret, signature or body.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const rest = (): Promise<void> => pause(0, { keepsProcess: true });
  return search(options, createBudget({ ...LIMITS, rest }));
}
