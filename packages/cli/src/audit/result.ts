import type { Severity } from '@paylink/testing/internal';
import type { CauseId } from './cause.js';

/** A receiver's reply to one delivery, and the judgement. */
export type AuditResult = {
  /** The row of the table of attacks, such as "A06". Several results share a row. */
  readonly id: string;
  /** A sentence that begins with the id and states a receiver's correct behaviour. */
  readonly name: string;
  /** The delivery in words, without a verb. */
  readonly what?: string;
  /** The server's reaction: "accepted a delivery without a signature". */
  readonly title?: string;
  readonly passed: boolean;
  /** The reason if the probe was not tried or not judged. */
  readonly skipped?: string;
  /** A remark that is not a finding. */
  readonly note?: string;
  /**
   * The correct statuses. If one of them is a 2xx, every 2xx passes. If the receiver should reject,
   * every 4xx passes. A closed connection passes if the server may close it.
   */
  readonly expected: readonly number[];
  /** The received status, or `undefined` without a reply. */
  readonly actual: number | undefined;
  /** Observations besides the status. */
  readonly detail?: string;
  /** The severity of a finding. `critical`: a credit without a payment, or a lost payment. */
  readonly severity?: Severity;
  /** The cause of a finding. */
  readonly cause?: CauseId;
};
