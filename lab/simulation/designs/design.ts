import type { ReconcileReport, Settled } from '@paylink/payments';
import type { SimulatedPool } from '../pool.js';
import type { Life } from '../process.js';
import type { World } from '../world.js';

/** A request as it reaches a receiver. */
export interface Receives {
  /** Of the URL: the tenant to whose webhook it was posted. */
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

/** A merchant's server in one life of its process. */
export interface Running {
  /** Gives the status of the reply; `told` is given the outcome as `observe` reports it. */
  receive(received: Receives, told: (outcome: string) => void): Promise<number>;
  /** What the page shows to which a customer of this tenant returns. */
  settle(tenant: string, reference: string): Promise<Settled>;
  /** One pass over all unpaid orders, a report for each tenant. */
  reconcile(): Promise<readonly ReconcileReport[]>;
}

/** A way to build a merchant's server. */
export interface Design {
  readonly description: string;
  /** Whether the design credits wrongly, and the simulation must find it. */
  readonly broken: boolean;
  /** Whether the history has refunds: only if the store itself does each effect once. */
  readonly refunds: boolean;
  /** Whether it refuses a payment over another amount than the order's. */
  readonly comparesAmounts: boolean;
  start(surroundings: Surroundings): Running;
}
