/** A receiver's reply. */
export type ReceiverAnswer = {
  readonly status: number;
  /** The code in a body such as `{"error":"unknown_order"}`. */
  readonly code?: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The first 4,096 bytes. */
  readonly body: string;
  readonly truncated: boolean;
};

/** One POST to the webhook URL. */
export type DeliveryAttempt = {
  /** The number of this attempt, from 1. Discarded attempts count too. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** The sent request. Its body is UTF-8. */
  readonly request: {
    readonly method: 'POST';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly response?: ReceiverAnswer;
  /** The reason in words if your server did not reply. */
  readonly error?: string;
};

/** One notification with its delivery attempts. */
export interface EmulatorDelivery {
  readonly id: string;
  readonly event: 'payment.succeeded';
  readonly reference: string;
  readonly url: string;
  readonly createdAt: Date;
  /**
   * `pending` until the receiver acknowledges the notification, then `delivered`. The emulator
   * retries pending deliveries as long as it runs. An `unsent` delivery was created with
   * `times: 0`, and only `redeliver` sends it.
   */
  readonly state: 'pending' | 'delivered' | 'unsent';
  /** The number of attempts, including unfinished and discarded ones. */
  readonly attemptCount: number;
  /** The newest 50 finished attempts, in the order in which they finished. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt?: Date;
}

export function countOf({ attemptCount }: EmulatorDelivery): string {
  return attemptCount === 1 ? '1 attempt' : `${attemptCount} attempts`;
}

/** Returns the status and the code (`503 unknown_order`), or the reason for a missing reply. */
export function resultOf({ response, error = '' }: DeliveryAttempt): string {
  if (response === undefined) return error;
  return response.code === undefined ? `${response.status}` : `${response.status} ${response.code}`;
}
