/** Ways to credit an order, with the counts that an audit asks for. */
import type { ProvenEvent } from './hand-written.js';

export interface MerchantBooks {
  readonly credits: (reference: string) => number;
  readonly credit: (event: ProvenEvent) => Promise<number> | number;
}

type Credit = (
  event: ProvenEvent,
  count: (reference: string) => void,
  done: Set<string>,
) => Promise<number> | number;

function books(credit: Credit): () => MerchantBooks {
  return () => {
    const counts = new Map<string, number>();
    const done = new Set<string>();
    const count = (reference: string): void =>
      void counts.set(reference, (counts.get(reference) ?? 0) + 1);
    return {
      credits: (reference) => counts.get(reference) ?? 0,
      credit: (event) => credit(event, count, done),
    };
  };
}

const isPaid = ({ kind, status }: ProvenEvent): boolean =>
  kind === 'payment.succeeded' && (status === undefined || status === 'success');

/**
 * Waits a moment, then some turns of the event loop: after a pause of the machine, the timer may
 * precede earlier arrivals.
 */
async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A careful merchant's orders. */
export const ORDERS = ['order-1', 'order-2', 'order-3', 'order-4', 'order-5'] as const;

export const careful = books((event, count, done) => {
  const { kind, status, reference } = event;
  if (kind !== 'payment.succeeded') return 200;
  if (status === 'pending') return 503;
  if (status === 'failed' || status === 'cancelled') return 400;
  if (!(ORDERS as readonly string[]).includes(reference)) return 503;
  if (!done.has(reference)) count(reference);
  done.add(reference);
  return 200;
});

/** Acknowledges at once and credits from a queue, after the audit has asked often enough. */
export function queueing(questions: number): MerchantBooks {
  const { credits, credit } = careful();
  const queue = new Map<string, { readonly event: ProvenEvent; left: number }>();
  return {
    credit(event) {
      if (!isPaid(event) || !(ORDERS as readonly string[]).includes(event.reference))
        return credit(event);
      if (!queue.has(event.reference)) queue.set(event.reference, { event, left: questions });
      return 200;
    },
    credits(reference) {
      const waiting = queue.get(reference);
      if (waiting !== undefined && --waiting.left === 0) void credit(waiting.event);
      return credits(reference);
    },
  };
}

export const takingAnyOrder = books((event, count, done) => {
  if (isPaid(event) && !done.has(event.reference)) count(event.reference);
  done.add(isPaid(event) ? event.reference : '');
  return 200;
});

export const withoutMemory = books((event, count) => {
  if (isPaid(event)) count(event.reference);
  return 200;
});

const checkingThenActingAfter = (milliseconds: number) =>
  books(async (event, count, done) => {
    if (!isPaid(event) || done.has(event.reference)) return 200;
    await pause(milliseconds);
    count(event.reference);
    done.add(event.reference);
    return 200;
  });

export const checkingThenActing = checkingThenActingAfter(20);

/** Still works when a sender without a reply would retry. */
export const checkingThenActingSlowly = checkingThenActingAfter(400);

export const rememberingBodies = books((event, count, done) => {
  const key = event.raw.toString('latin1');
  if (!isPaid(event) || done.has(key)) return 200;
  done.add(key);
  count(event.reference);
  return 200;
});

export const markingFirst = books((event, count, done) => {
  if (!isPaid(event)) {
    done.add(event.reference);
    return 200;
  }
  if (!done.has(event.reference)) count(event.reference);
  done.add(event.reference);
  return 200;
});

export const neverCrediting = books(() => 200);

export const ignoringUnknownOrders = books((event, count, done) => {
  const { reference } = event;
  if (!isPaid(event) || !(ORDERS as readonly string[]).includes(reference) || done.has(reference))
    return 200;
  count(reference);
  done.add(reference);
  return 200;
});

export const creditingEveryEvent = books(({ reference }, count, done) => {
  if (!done.has(reference)) count(reference);
  done.add(reference);
  return 200;
});
