import type { ProvenDelivery } from '@paylink/core';

/** An event of any kind, whatever its schema makes of the payload. */
export interface VerifiedEvent {
  readonly type: string;
  /** Of an unrecognized event. */
  readonly kind?: string;
  readonly reference: string;
  readonly rawBody: Uint8Array;
  readonly secretIndex: number;
}

/** What Redis keeps of a verified event: the signed bytes, and which secret proved them. Never a secret or a signature. */
export interface PaymentJob {
  /** The event's kind, which is the job's name too. */
  readonly kind: string;
  /** For operators; the worker reads it from the bytes. */
  readonly reference: string;
  /** The bytes that were signed, in base64. */
  readonly rawBody: string;
  readonly secretIndex: number;
  /** The merchant, where the receiver's `tenant` names one. */
  readonly tenant?: string;
}

export function toJob(event: VerifiedEvent, tenant: string | undefined): PaymentJob {
  const { reference, rawBody, secretIndex } = event;
  const bytes = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  const job = { kind: kindOf(event), reference, rawBody: bytes.toString('base64'), secretIndex };
  return tenant === undefined ? job : { ...job, tenant };
}

export function kindOf(event: VerifiedEvent): string {
  return event.type === 'unrecognized' && event.kind !== undefined ? event.kind : event.type;
}

/** @throws TypeError for a job that enqueue() did not make. It quotes nothing of it. */
export function fromJob(data: unknown): ProvenDelivery {
  const { kind, rawBody, secretIndex, tenant } = (data ?? {}) as Partial<PaymentJob>;
  const isTenant = tenant === undefined || (typeof tenant === 'string' && tenant !== '');
  if (typeof kind !== 'string' || typeof rawBody !== 'string' || !Number.isInteger(secretIndex) || !isTenant) {
    throw new TypeError('the job was not made by enqueue(): give verified events a queue of their own');
  }
  return { kind, rawBody: Buffer.from(rawBody, 'base64'), secretIndex: secretIndex!, tenant };
}
