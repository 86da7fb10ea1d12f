import type { AnyEvent } from '@paylink/payments';

/** What a queue keeps of a verified event. Never a secret or a signature. */
export interface PaymentJob {
  readonly type: string;
  readonly reference: string;
  /** The merchant, if there are several. */
  readonly tenant?: string;
}

export function toJob({ type, reference, tenant }: AnyEvent): PaymentJob {
  return { type, reference, ...(tenant !== undefined && { tenant }) };
}

/** @throws TypeError for a message that `toJob` did not make. Its text quotes nothing of it. */
export function fromJob(job: unknown): AnyEvent {
  const { type, reference, tenant } = Object(job) as Partial<PaymentJob>;
  if (typeof type !== 'string' || typeof reference !== 'string') {
    throw new TypeError('toJob() did not make this job: give verified events their own queue');
  }
  // The bytes stay behind: payments asks the service about the reference.
  const proof = { payload: { reference }, rawBody: new Uint8Array(), secretIndex: 0 };
  return { type, reference, ...(tenant !== undefined && { tenant }), ...proof };
}
