import type { DeliveryAttempt } from './attempt.js';
import type { Disturbance } from './disturbances.js';
import type { Expectation, Fault } from '../faults/faults.js';
import type { Verdict } from '../faults/verdict.js';
import type { PaymentStatus } from '../payments/payment.js';

/** One notification with its delivery attempts. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly event: 'payment.succeeded';
  readonly reference: string;
  readonly url: string;
  readonly createdAt: Date;
  /**
   * `pending` until the receiver acknowledges the notification, then `delivered`. The emulator
   * retries pending deliveries as long as it runs. A disturbance leads to `dropped`, a fault to
   * `sent`: the emulator retries neither.
   */
  readonly state: 'pending' | 'delivered' | 'dropped' | 'sent';
  /** The fault of `sendFault`, or the disturbance that changed this delivery. */
  readonly fault?: Fault | Disturbance['kind'];
  /** The payment's status when the fault was sent. The expected answers depend on this status. */
  readonly paymentStatus?: PaymentStatus;
  /** The judgement of the answers to a fault. */
  readonly verdict?: Verdict;
  /** The number of attempts. */
  readonly attemptCount: number;
  /** The newest attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt?: Date;
}

export interface FaultOutcome {
  readonly fault: Fault;
  /** The rows of the table of attacks. */
  readonly rows: readonly string[];
  /** The expected answers for the payment status `delivery.paymentStatus`. */
  readonly expected: Expectation;
  readonly verdict: Verdict;
  /**
   * Set unless the verdict is `unexpected`: a correct receiver may answer so. Answers do not show
   * whether the receiver credited the order.
   */
  readonly asExpected: boolean;
  /** The delivery as in `deliveries()`. */
  readonly delivery: EmulatorDelivery;
}
