import { type WebhookPayload } from '@paylink/core';
import { parsePayload } from '@paylink/core/internal';
import type { AnyEvent } from '@paylink/payments';

/** A verified event in Redis. Never contains a secret or a signature. */
export interface PaymentJob {
  /** The event kind, which is also the job's name. */
  readonly kind: string;
  /** For operators. The worker reads the reference from the signed bytes. */
  readonly reference: string;
  /** The signed bytes in base64. */
  readonly rawBody: string;
  readonly secretIndex: number;
  /** The merchant, with several merchants. */
  readonly tenant?: string;
}

export function toJob(event: AnyEvent, tenant: string | undefined): PaymentJob {
  const { reference, rawBody, secretIndex } = event;
  const bytes = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  const job = { kind: kindOf(event), reference, rawBody: bytes.toString('base64'), secretIndex };
  return tenant === undefined ? job : { ...job, tenant };
}

export function kindOf(event: AnyEvent): string {
  return 'kind' in event && event.type === 'unrecognized' ? event.kind : event.type;
}

/**
 * Reads an event from a job.
 *
 * @throws TypeError for a job that enqueue() did not make. The message never quotes the job.
 */
export function fromJob(data: unknown): AnyEvent {
  const job = Object.assign(Object.create(null) as Partial<PaymentJob>, data);
  const { kind, rawBody: base64, secretIndex, tenant } = job;
  if (typeof kind !== 'string' || typeof base64 !== 'string') throw foreign();
  if (!Number.isInteger(secretIndex)) throw foreign();
  if (tenant !== undefined && (typeof tenant !== 'string' || tenant === '')) throw foreign();
  const rawBody = Buffer.from(base64, 'base64');
  const payload = parse(rawBody);
  const event = { type: kind, reference: payload.reference, payload, rawBody };
  return { ...event, secretIndex: secretIndex!, ...(tenant !== undefined && { tenant }) };
}

/** The receiver already parsed these bytes, so only a foreign job fails here. */
function parse(rawBody: Uint8Array): WebhookPayload {
  try {
    return parsePayload(rawBody);
  } catch {
    throw foreign();
  }
}

function foreign(): TypeError {
  return new TypeError('enqueue() did not make this job: give verified events their own queue');
}
