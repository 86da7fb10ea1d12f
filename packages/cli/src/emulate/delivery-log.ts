import type { Emulator, EmulatorDelivery } from '@paylink/emulator';
import { adviceFor } from '../receiver/answer-advice.js';
import { codeOf } from '../receiver/reply.js';

type DeliveryAttempt = EmulatorDelivery['attempts'][number];

/** One delivery attempt, without the signed body and the signature. */
export interface LoggedAttempt {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly id: string;
  readonly event: string;
  readonly reference: string;
  readonly number: number;
  readonly status?: number;
  /** The code of Paylink's reply. */
  readonly code?: string;
  /** The reason if the attempt got no answer. */
  readonly error?: string;
  readonly durationMs: number;
  readonly acknowledged: boolean;
  readonly retryInMs?: number;
  /** The next step, once per delivery. */
  readonly advice?: string;
}

// Feels immediate, and costs nothing.
const INTERVAL = 100;

/**
 * Reports each attempt once, in the order of their ends. Skips attempts that began before `since`,
 * in an earlier run. Returns a function that reports the last attempts and stops.
 */
export function watchDeliveries(
  emulator: Pick<Emulator, 'deliveries'>,
  onAttempt: (attempt: LoggedAttempt) => void,
  since = new Date(0),
): () => void {
  // Remembers each number, not the highest number: concurrent attempts end in any order.
  let reported = new Map<string, ReadonlySet<number>>();
  const look = (): void => {
    const deliveries = emulator.deliveries();
    const fresh = deliveries.flatMap((delivery) =>
      delivery.attempts
        .filter(
          ({ number, startedAt }) =>
            startedAt >= since && reported.get(delivery.id)?.has(number) !== true,
        )
        .map((attempt) => ({ delivery, attempt })),
    );
    // Drops deliveries that the emulator has dropped.
    reported = new Map(
      deliveries.map(({ id, attempts }) => [id, new Set(attempts.map(({ number }) => number))]),
    );
    fresh.sort((a, b) => endOf(a.attempt) - endOf(b.attempt));
    for (const { delivery, attempt } of fresh) onAttempt(summarize(delivery, attempt));
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

function summarize(delivery: EmulatorDelivery, attempt: DeliveryAttempt): LoggedAttempt {
  const { id, event, reference, attempts, nextAttemptAt } = delivery;
  const { number, startedAt, durationMs, response, error } = attempt;
  const reply =
    response === undefined ? undefined : { ...response, headers: joined(response.headers) };
  const code = reply === undefined ? undefined : codeOf(reply);
  const isFirst = number === 1;
  const advice =
    isFirst && reply !== undefined ? adviceFor(reply, new URL(delivery.url)) : undefined;
  const isLast = number === attempts.at(-1)?.number;
  return {
    at: startedAt.toISOString(),
    id,
    event,
    reference,
    number,
    ...(response === undefined ? {} : { status: response.status }),
    ...(code === undefined ? {} : { code }),
    ...(error === undefined ? {} : { error }),
    durationMs: Math.round(durationMs),
    acknowledged: response !== undefined && response.status >= 200 && response.status <= 299,
    ...(isLast && nextAttemptAt !== undefined
      ? { retryInMs: Math.max(0, nextAttemptAt.getTime() - Date.now()) }
      : {}),
    ...(advice === undefined ? {} : { advice }),
  };
}

function joined(
  headers: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
