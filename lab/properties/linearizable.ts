/** Histories of a store by concurrent clients, checked against a sequential model. */
import { createHash, randomUUID } from 'node:crypto';
import type { PaymentStore } from '@paylink/payments';
import fc from 'fast-check';

/** A store with the engine's facts that the property needs. */
export interface StoreUnderTest<Tx = undefined> {
  /**
   * The stores of one engine, each with its own connections as in separate processes. The clients
   * use them in turn.
   */
  readonly stores: readonly PaymentStore<Tx>[];
  /** Waits until the engine notices. */
  readonly pause: (steps: number) => Promise<void>;
  /** Set if the engine also holds the effects. */
  readonly ledger?: {
    /** Writes the effect of a key in the store's transaction. */
    write(key: string, tx: Tx): Promise<void>;
    /** Counts the durable effects of a key. */
    count(key: string): Promise<number>;
  };
}

const steps = fc.nat(6);
const operations = fc.record({
  after: steps,
  /** Two keys of one turn, and one of another. */
  key: fc.nat(2),
  does: fc.constantFrom('run', 'run', 'fail', 'ask'),
  takes: steps,
});
const histories = fc.array(fc.array(operations, { minLength: 1, maxLength: 2 }), {
  minLength: 2,
  maxLength: 4,
});

type Result = 'done' | 'duplicate' | 'in_progress' | 'running' | 'threw' | 'yes' | 'no';

interface Event {
  /** The index of the store. */
  readonly store?: number;
  readonly key: number;
  readonly does: 'run' | 'fail' | 'ask';
  readonly begin: number;
  end: number;
  result: Result;
}

class WorkFailed extends Error {}

/**
 * Returns true if some order of the operations fits the sequential model and keeps their real-time
 * order.
 */
export function isLinearizable(
  events: readonly Event[],
  done: ReadonlySet<number> = new Set(),
): boolean {
  if (events.length === 0) return true;
  const firstEnd = Math.min(...events.map(({ end }) => end));
  return events.some((event) => {
    if (event.begin > firstEnd) return false;
    const isDone = done.has(event.key);
    const isAllowed = {
      done: !isDone && event.does === 'run',
      threw: !isDone && event.does === 'fail',
      duplicate: isDone,
      yes: isDone,
      no: !isDone,
      // These outcomes say nothing about the state. Another check proves that a run was in
      // progress.
      in_progress: true,
      running: true,
    }[event.result];
    if (!isAllowed) return false;
    const rest = events.filter((other) => other !== event);
    return isLinearizable(rest, event.result === 'done' ? new Set([...done, event.key]) : done);
  });
}

/**
 * Holds if the history is linearizable, each done key has one effect and others none, and runs of
 * one turn never overlap.
 */
export function linearizableStore<Tx>({ stores, pause, ledger }: StoreUnderTest<Tx>) {
  return fc.asyncProperty(histories, async (clients) => {
    const history = randomUUID();
    const hash = (text: string): string =>
      createHash('sha256').update(`${history} ${text}`).digest('hex');
    const keys = [0, 1, 2].map((key) => hash(`key ${key}`));
    const turnOf = (key: number): string => hash(`turn ${key >> 1}`);
    const working = new Map<string, number>();
    const events: Event[] = [];
    let now = 0;
    let overlapped = false;

    const work = async (
      key: number,
      does: 'run' | 'fail',
      takes: number,
      tx: Tx,
    ): Promise<void> => {
      const turn = turnOf(key);
      const others = working.get(turn) ?? 0;
      overlapped ||= others > 0;
      working.set(turn, others + 1);
      try {
        await ledger?.write(keys[key]!, tx);
        await pause(takes);
        if (does === 'fail') throw new WorkFailed();
      } finally {
        working.set(turn, working.get(turn)! - 1);
      }
    };
    const operate = async (
      at: number,
      { after, key, does, takes }: (typeof clients)[number][number],
    ): Promise<void> => {
      const store = stores[at]!;
      await pause(after);
      const event: Event = { store: at, key, does, begin: now++, end: Infinity, result: 'no' };
      events.push(event);
      if (event.does === 'ask') event.result = (await store.isDone(keys[key]!)) ? 'yes' : 'no';
      else {
        const kind = event.does;
        event.result = await store
          .run(keys[key]!, (tx) => work(key, kind, takes, tx), {
            signal: new AbortController().signal,
            turn: turnOf(key),
          })
          .catch((error: unknown) => {
            if (error instanceof WorkFailed) return 'threw' as const;
            throw error;
          });
      }
      event.end = now++;
    };
    await Promise.all(
      clients.map(async (operationsOfOne, client) => {
        for (const operation of operationsOfOne) await operate(client % stores.length, operation);
      }),
    );

    const wasBusy = ({ key, begin, end }: Event): boolean =>
      events.some(
        (other) =>
          other.does !== 'ask' &&
          turnOf(other.key) === turnOf(key) &&
          other.begin !== begin &&
          other.begin < end &&
          other.end > begin,
      );
    // A store may treat a key that its own process runs as not done yet, whatever another process
    // has done.
    for (const event of events) {
      const isOwn = (other: Event): boolean =>
        other.store === event.store && other.key === event.key && other.does !== 'ask';
      const runsHere =
        stores.length > 1 &&
        events.some((other) => isOwn(other) && other.begin < event.end && other.end > event.begin);
      if (event.result === 'no' && runsHere) event.result = 'running';
    }
    const counts =
      ledger === undefined ? [] : await Promise.all(keys.map((key) => ledger.count(key)));
    return (
      !overlapped &&
      isLinearizable(events) &&
      events.every((event) => event.result !== 'in_progress' || wasBusy(event)) &&
      counts.every(
        (count, key) =>
          count === Number(events.some((event) => event.key === key && event.result === 'done')),
      )
    );
  });
}
