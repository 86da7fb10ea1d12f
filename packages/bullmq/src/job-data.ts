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

/** What is kept of a verified event in Redis: the signed bytes, and by what they were proven. Never a secret or a signature. */
export interface PaymentJob {
  /** The event's kind, which is the job's name too. */
  readonly kind: string;
  /** For people who look at the queue; the worker reads it from the bytes. */
  readonly reference: string;
  /** The bytes that were signed, in base64. */
  readonly rawBody: string;
  readonly secretIndex: number;
}

export function toJob(event: VerifiedEvent): PaymentJob {
  const { reference, rawBody, secretIndex } = event;
  const bytes = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  return { kind: kindOf(event), reference, rawBody: bytes.toString('base64'), secretIndex };
}

export function kindOf(event: VerifiedEvent): string {
  return event.type === 'unrecognized' && event.kind !== undefined ? event.kind : event.type;
}

/** @throws TypeError when something else is in the queue. It quotes nothing of it. */
export function fromJob(data: unknown): ProvenDelivery {
  const { kind, rawBody, secretIndex } = (data ?? {}) as Partial<PaymentJob>;
  if (typeof kind !== 'string' || typeof rawBody !== 'string' || !Number.isInteger(secretIndex)) {
    throw new TypeError('the job is none that enqueue() made: give verified events a queue of their own');
  }
  return { kind, rawBody: Buffer.from(rawBody, 'base64'), secretIndex: secretIndex! };
}
