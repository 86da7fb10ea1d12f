import type { ProvenDelivery, WebhookEvent } from '@paylink/core';

/** What a queue keeps of a proven event: the signed bytes, and which secret proved them. Never a secret or a signature. */
export interface PaymentJob {
  readonly kind: string;
  /** In base64. */
  readonly rawBody: string;
  readonly secretIndex: number;
}

export function toJob(event: Pick<WebhookEvent, 'type' | 'rawBody' | 'secretIndex'>): PaymentJob {
  return { kind: event.type, rawBody: Buffer.from(event.rawBody).toString('base64'), secretIndex: event.secretIndex };
}

/** @throws TypeError for what `toJob` did not make. It quotes nothing of it. */
export function fromJob(job: unknown): ProvenDelivery {
  const { kind, rawBody, secretIndex } = (job ?? {}) as Partial<PaymentJob>;
  if (typeof kind !== 'string' || typeof rawBody !== 'string' || !Number.isInteger(secretIndex)) {
    throw new TypeError('the job was not made by toJob(): give verified events a queue of their own');
  }
  return { kind, rawBody: Buffer.from(rawBody, 'base64'), secretIndex: secretIndex! };
}
