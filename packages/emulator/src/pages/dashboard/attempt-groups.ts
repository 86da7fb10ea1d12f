import type { DeliveryAttempt } from '../../deliveries/delivery.js';

/** Neighbouring attempts with the same result. */
export interface AttemptGroup {
  /** The status and the code, such as `503 unknown_order`, or the reason without an answer. */
  readonly result: string;
  readonly count: number;
  readonly newest: DeliveryAttempt;
}

/** Groups attempts by their result, newest first: 14 equal retries are one group. */
export function groupAttempts(attempts: readonly DeliveryAttempt[]): AttemptGroup[] {
  const groups: AttemptGroup[] = [];
  for (const attempt of attempts) {
    const result = resultOf(attempt);
    const last = groups[0];
    if (last?.result === result) groups[0] = { result, count: last.count + 1, newest: attempt };
    else groups.unshift({ result, count: 1, newest: attempt });
  }
  return groups;
}

export function resultOf({ response, errorCode = '' }: DeliveryAttempt): string {
  if (response === undefined) return errorCode;
  return response.code === undefined ? `${response.status}` : `${response.status} ${response.code}`;
}
