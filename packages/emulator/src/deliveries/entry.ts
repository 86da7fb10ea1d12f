import { randomUUID } from 'node:crypto';
import type { DeliveryAttempt, EmulatorDelivery } from './delivery.js';

/** A delivery as the outbox works on it. */
export interface Entry {
  readonly id: string;
  readonly reference: string;
  /** The body of the notification, which every attempt signs and sends. */
  readonly body: string;
  readonly createdAt: Date;
  /** The newest attempts. */
  readonly attempts: DeliveryAttempt[];
  state: EmulatorDelivery['state'];
  /** The number of started attempts, and of failures, which lengthen the next wait. */
  started: number;
  failures: number;
  next?: { readonly timer: NodeJS.Timeout; readonly at: Date } | undefined;
}

export function createEntry(reference: string, body: string): Entry {
  return {
    id: randomUUID(),
    reference,
    body,
    createdAt: new Date(),
    attempts: [],
    state: 'pending',
    started: 0,
    failures: 0,
  };
}

/** Returns a copy for the user. */
export function toDelivery(entry: Entry, url: string): EmulatorDelivery {
  const { id, reference, createdAt, state, started, attempts, next } = entry;
  return {
    id,
    event: 'payment.succeeded',
    reference,
    url,
    createdAt,
    state,
    attemptCount: started,
    attempts: [...attempts],
    ...(next === undefined ? {} : { nextAttemptAt: next.at }),
  };
}
