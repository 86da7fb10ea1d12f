import type { DeliveryAttempt } from '../../deliveries/delivery.js';

/** Neighbouring attempts with the same result. */
export interface AttemptGroup {
  /** The status and the code, such as `503 unknown_order`, or the reason without an answer. */
  readonly result: string;
  readonly isGood: boolean;
  readonly count: number;
  /** The number of the first attempt. */
  readonly first: number;
  readonly newest: DeliveryAttempt;
}

/** Groups attempts by their result, newest first: 14 equal retries are one group. */
export function groupAttempts(attempts: readonly DeliveryAttempt[]): AttemptGroup[] {
  const groups: AttemptGroup[] = [];
  for (const newest of attempts) {
    const result = resultOf(newest);
    const { status = 0 } = newest.response ?? {};
    const last = groups[0]?.result === result ? groups.shift() : undefined;
    const { first, count } = last ?? { first: newest.number, count: 0 };
    groups.unshift({
      result,
      isGood: status >= 200 && status <= 299,
      count: count + 1,
      first,
      newest,
    });
  }
  return groups;
}

export function resultOf({ response, errorCode = '' }: DeliveryAttempt): string {
  if (response === undefined) return errorCode;
  return response.code === undefined ? `${response.status}` : `${response.status} ${response.code}`;
}
