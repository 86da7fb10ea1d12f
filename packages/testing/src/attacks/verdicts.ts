/** The right answer to each kind of attack, and the harm of another answer. */
import type { Fault, Severity, Verdict } from './attack.js';

/** The registered 2xx statuses except 200. NestJS answers a POST with 201. */
const ALSO_ACKNOWLEDGED = [201, 202, 203, 204, 205, 206, 207, 208, 226] as const;
export const ACKNOWLEDGED = [200, ...ALSO_ACKNOWLEDGED] as const;

/** Matches every 2xx, because the contract does not state a status (docs/service.md 6.9). */
export function acknowledges(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

export function forged(fault: Fault, severity: Severity = 'critical'): Verdict {
  const code = 'invalid_signature';
  return { category: 'forged', status: 401, code, accepts: [400, 403], severity, fault };
}

/** @param more other harmless statuses */
export function genuine(
  severity: Severity = 'high',
  fault: Fault = 'refuses_genuine',
  more: readonly number[] = [],
): Verdict {
  const accepts = [...ALSO_ACKNOWLEDGED, ...more];
  return { category: 'genuine', status: 200, accepts, severity, fault };
}

/** The verdict with more harmless statuses, and with other traits. */
export const also = <Right extends Verdict, const Traits extends object>(
  verdict: Right,
  more: readonly number[],
  traits = {} as Traits,
): Right & Traits => ({ ...verdict, accepts: [...verdict.accepts, ...more], ...traits });

export const invalidBody: Verdict = {
  category: 'invalid',
  status: 400,
  code: 'invalid_payload',
  accepts: [401, 403, 415, 422],
  severity: 'low',
  fault: 'invalid_body',
};

export const tooLarge: Verdict = {
  category: 'invalid',
  status: 413,
  code: 'body_too_large',
  accepts: [400, 401, 403],
  severity: 'high',
  fault: 'no_limit',
};

export const invalidEvent: Verdict = {
  ...invalidBody,
  code: 'invalid_event',
  accepts: [401, 403, 422],
  fault: 'event_header',
};
