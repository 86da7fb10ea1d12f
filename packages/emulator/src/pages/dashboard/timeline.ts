import type { ApiRequest } from '../../api/request-log.js';
import type { DeliveryAttempt } from '../../deliveries/attempt.js';
import type { EmulatorDelivery } from '../../deliveries/delivery.js';
import type { Link, StatusChange } from '../../payments/payment.js';

export const KINDS = ['request', 'payment', 'delivery'] as const;
export type HappeningKind = (typeof KINDS)[number];

/** An API request, a payment's change, or a delivery attempt. */
export type Happening = { readonly at: Date; readonly reference: string | undefined } & (
  | { readonly kind: 'request'; readonly request: ApiRequest }
  | { readonly kind: 'payment'; readonly change: StatusChange; readonly token: string }
  | {
      readonly kind: 'delivery';
      readonly attempt: DeliveryAttempt;
      readonly delivery: EmulatorDelivery;
    }
);

export interface TimelineFilter {
  readonly kind: HappeningKind | undefined;
  /** A part of the reference. */
  readonly text: string;
}

export interface TimelineSources {
  readonly requests: readonly ApiRequest[];
  readonly links: readonly Link[];
  readonly deliveries: readonly EmulatorDelivery[];
}

/** Returns the events, newest first. */
export function timelineOf(
  sources: TimelineSources,
  { kind, text }: TimelineFilter,
  most: number,
): Happening[] {
  const all: Happening[] = [];
  if (kind === undefined || kind === 'request') {
    for (const request of sources.requests)
      all.push({ kind: 'request', at: request.at, reference: request.reference, request });
  }
  if (kind === undefined || kind === 'payment') {
    for (const { history, reference, token } of sources.links) {
      for (const change of history)
        all.push({ kind: 'payment', at: change.at, reference, change, token });
    }
  }
  if (kind === undefined || kind === 'delivery') {
    for (const delivery of sources.deliveries) {
      const { reference } = delivery;
      for (const attempt of delivery.attempts)
        all.push({ kind: 'delivery', at: attempt.startedAt, reference, attempt, delivery });
    }
  }
  return all
    .reverse() // Within a millisecond, the consequence stands above its cause.
    .filter(({ reference }) => text === '' || reference?.includes(text) === true)
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, most);
}
