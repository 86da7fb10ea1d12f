import type { ReconcileReport, Settled } from '@paylink/payments';
import type { SimulatedPool } from '../pool.js';
import type { Life } from '../process.js';
import type { World } from '../world.js';

/** A request as it reaches a receiver. */
export interface Receives {
  /** The URL path, which names the tenant. */
  readonly path: string;
  readonly kind: string;
  readonly body: Uint8Array;
  readonly signature: string;
}

export interface Surroundings {
  readonly world: World;
  readonly life: Life;
  readonly pool: SimulatedPool;
  readonly log: (line: string) => void;
}

/** A merchant's server during one life of its process. */
export interface Running {
  /** Returns the reply's status. Calls `told` with the outcome from `observe`. */
  receive(received: Receives, told: (outcome: string) => void): Promise<number>;
  /** Returns the content of the return page for a customer of this tenant. */
  settle(tenant: string, reference: string): Promise<Settled>;
  /** Runs one pass over all unpaid orders, with a report per tenant. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}

/** A way to build a merchant's server. */
export interface Design {
  readonly description: string;
  /** Set if the design credits wrongly, so that the simulation must find it. */
  readonly broken: boolean;
  /** Set if the history has refunds, which need a store that does each effect once. */
  readonly refunds: boolean;
  /** Set if the design refuses a payment with another amount than the order's. */
  readonly comparesAmounts: boolean;
  start(surroundings: Surroundings): Running;
}
