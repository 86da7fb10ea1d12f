import type { DeliveryAttempt } from './attempt.js';
import type { Disturbance } from './disturbances.js';
import type { Expectation, Fault } from '../faults/faults.js';

/** One notification and every attempt to get it across. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly event: 'payment.succeeded';
  readonly reference: string;
  readonly url: string;
  readonly createdAt: Date;
  /**
   * `pending` until the receiver acknowledges it, then `delivered`: it is never given up while the emulator runs. `dropped` by a
   * disturbance, `sent` once a fault is out: these are not tried again.
   */
  readonly state: 'pending' | 'delivered' | 'dropped' | 'sent';
  /** What `sendFault` or a disturbance made of it. */
  readonly fault?: Fault | Disturbance['kind'];
  /** How often it was sent. */
  readonly attemptCount: number;
  /** The newest attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt?: Date;
}

/** What came of a fault. */
export interface FaultOutcome {
  readonly fault: Fault;
  /** The rows of ATTACKS.md that it is. */
  readonly rows: readonly string[];
  /** What a receiver answers that does it right. */
  readonly expected: Expectation;
  /** Whether every answer was one of those. What has become of the order, no answer shows. */
  readonly asExpected: boolean;
  /** As in `deliveries()`. */
  readonly delivery: EmulatorDelivery;
}
