/** A merchant's code, as a try sees it: processes that receive deliveries, and orders. */
import type { NewOrder } from '../orders/order.js';
import type { Changes } from './changes.js';
import type { Proxy } from './proxy.js';
import type { Round } from './round.js';

export type { NewOrder };

/** The reply to a notification: 200, or the code of the refusal. */
export interface Delivered {
  readonly isAcknowledged: boolean;
  readonly code?: string;
}

/** The state of an order in the database. */
export interface Truth {
  readonly paid: boolean;
  /** Undefined if nothing counts them. */
  readonly effects: number | undefined;
}

/** One of the merchant's processes, behind its own proxy. */
export interface Party {
  readonly proxy: Proxy;
  /** The replies to the delivery of the running try. */
  readonly replies: readonly Delivered[];
  /** The result of `credit`. Undefined if `credit` was not called, threw, or is not seen. */
  readonly credited?: number | null | undefined;
  /** True once the delivery is answered, or the process is gone. */
  readonly isOver: boolean;
  /** Called with each result of `find`. */
  onFound?: ((paid: boolean | undefined) => void) | undefined;
  /** Starts to hold rounds, and to deliver. */
  start(order: NewOrder): void;
  /** Resolves when the process has had the time to send its next round. */
  pass(): Promise<unknown>;
  kill(): Promise<void>;
}

export interface Recovery {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface Subject {
  readonly changes: Changes;
  /** False if a process can be killed alone. */
  readonly hasConnections: boolean;
  /** The state of a new order after one delivery alone. */
  readonly alone: Truth;
  /** False if nothing counts the other writes of a credit. */
  readonly hasEffects: boolean;
  /** Reads a number that the credit of each order moves. Undefined if nothing reads one. */
  readonly total: ((order: NewOrder) => Promise<number>) | undefined;
  newOrder(): Promise<NewOrder>;
  truth(order: NewOrder): Promise<Truth>;
  /** Resolves when the database has answered another question. */
  questionAnswered(): Promise<unknown>;
  /** Returns living processes for that many deliveries of one order. */
  parties(deliveries: number): Promise<readonly Party[]>;
  /** Returns a letter for the stories. */
  nameOf(party: Party, round?: Round): string;
  /** Ways to complete an order after a cut of this party, without a proxy that holds. */
  recoveries(order: NewOrder, party?: Party): readonly Recovery[];
  close(): Promise<void>;
}
