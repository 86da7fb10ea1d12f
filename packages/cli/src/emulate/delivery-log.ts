/** Reports each delivery attempt of an emulator once. */
import type { Emulator, EmulatorDelivery } from '@paylink/emulator';

// Feels immediate, and costs nothing.
const INTERVAL = 100;

export type DeliveryAttempt = EmulatorDelivery['attempts'][number];

type Report = (delivery: EmulatorDelivery, attempt: DeliveryAttempt) => void;

/**
 * Reports attempts in the order of their ends. Returns a function that reports the last attempts
 * and stops.
 */
export function watchDeliveries(
  emulator: Pick<Emulator, 'deliveries'>,
  report: Report,
): () => void {
  // Remembers each number, not the highest number: concurrent attempts end in any order.
  let reported = new Map<string, ReadonlySet<number>>();
  const look = (): void => {
    const deliveries = emulator.deliveries();
    const fresh = deliveries.flatMap((delivery) =>
      delivery.attempts
        .filter(({ number }) => reported.get(delivery.id)?.has(number) !== true)
        .map((attempt) => ({ delivery, attempt })),
    );
    // Drops deliveries that the emulator has dropped.
    reported = new Map(
      deliveries.map(({ id, attempts }) => [id, new Set(attempts.map(({ number }) => number))]),
    );
    fresh.sort((a, b) => endOf(a.attempt) - endOf(b.attempt));
    for (const { delivery, attempt } of fresh) report(delivery, attempt);
  };
  const timer = setInterval(look, INTERVAL);
  return () => {
    clearInterval(timer);
    look();
  };
}

function endOf({ startedAt, durationMs }: DeliveryAttempt): number {
  return startedAt.getTime() + durationMs;
}
