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
  // Reads own fields only: a tenant of a polluted prototype would give the order a second key.
  const own = Object.assign(Object.create(null) as Partial<PaymentJob>, job);
  const { type, reference, tenant } = own;
  if (typeof type !== 'string' || typeof reference !== 'string') {
    throw new TypeError('toJob() did not make this job: give verified events their own queue');
  }
  // payments asks the service about the reference. Only the inbox uses the bytes, for a replay.
  const payload = { reference };
  const rawBody = new TextEncoder().encode(JSON.stringify(payload));
  const event = { type, reference, payload, rawBody, secretIndex: 0 };
  return tenant === undefined ? event : { ...event, tenant };
}
