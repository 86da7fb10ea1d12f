import type { DeliveryAttempt } from './attempt.js';
import type { Disturbance } from './disturbances.js';
import type { Expectation, Fault } from '../faults/faults.js';
import type { Verdict } from '../faults/verdict.js';
import type { PaymentStatus } from '../payments/payment.js';

/** One notification and the attempts to deliver it. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly event: 'payment.succeeded';
  readonly reference: string;
  readonly url: string;
  readonly createdAt: Date;
  /**
   * `pending` until the receiver acknowledges it, then `delivered`. It is retried as long as the
   * emulator runs. `dropped` by a disturbance, and `sent` after a fault: these are not retried.
   */
  readonly state: 'pending' | 'delivered' | 'dropped' | 'sent';
  /** The fault of `sendFault`, or the disturbance that it met. */
  readonly fault?: Fault | Disturbance['kind'];
  /** The payment's status when a fault was sent. It decides the expected answers. */
  readonly paymentStatus?: PaymentStatus;
  /** Of a fault that was sent: the judgement of the answers. */
  readonly verdict?: Verdict;
  /** How often it was sent. */
  readonly attemptCount: number;
  /** The newest attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt?: Date;
}

/** The outcome of a fault. */
export interface FaultOutcome {
  readonly fault: Fault;
  /** The rows of the table of attacks. */
  readonly rows: readonly string[];
  /** The expected answers while the payment has the status `delivery.paymentStatus`. */
  readonly expected: Expectation;
  readonly verdict: Verdict;
  /**
   * Whether a correct receiver can have answered so: the verdict is not `unexpected`. No answer
   * shows whether the order was credited.
   */
  readonly asExpected: boolean;
  /** As in `deliveries()`. */
  readonly delivery: EmulatorDelivery;
}
