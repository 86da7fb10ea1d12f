import type { WebhookEvent } from './event.js';

/** What came of one delivery. Every field but `reference` comes from a fixed set or is a number, so they fit metrics. */
export interface DeliveryOutcome {
  /**
   * `handled`: the handler is done, or the gate handed the event on. `duplicate`: it was done before. `ignored`: signed, and
   * not for us. `rejected`: refused for what was sent. `failed`: refused for a fault on this side, so worth a retry.
   */
  readonly outcome: 'handled' | 'duplicate' | 'ignored' | 'rejected' | 'failed';
  /** The error's code; on `handled`, the contradiction of a signed status that `confirm` overruled. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`; only where the signature was right. */
  readonly type?: string;
  /** Only where the signature was right. */
  readonly reference?: string;
  readonly secretIndex?: number;
  readonly bodyBytes: number;
  readonly durationMs: number;
}

export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

/** What is gathered of one delivery on its way. */
export type Facts = Mutable<Omit<DeliveryOutcome, 'outcome' | 'durationMs'>> & { readonly started: number };

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

export function startFacts(): Facts {
  return { bodyBytes: 0, started: performance.now() };
}

export function noteEvent<Event extends WebhookEvent>(event: Event, facts: Facts): Event {
  facts.type = event.type;
  facts.reference = event.reference;
  facts.secretIndex = event.secretIndex;
  return event;
}

/** Tells the hook, and lets nothing that it does change what is watched. */
export function report(hook: ObserveHook | undefined, facts: Facts, outcome: DeliveryOutcome['outcome']): void {
  if (hook === undefined) return;
  const { started, ...rest } = facts;
  // In an async function, so that a hook that throws and one that rejects are the same.
  const tell = async (): Promise<void> => {
    await hook({ outcome, ...rest, durationMs: performance.now() - started });
  };
  tell().catch(() => undefined);
}
