import type { PaymentStore } from '@paylink/payments';
import type { Pool } from 'pg';
import type { Credit, Queryable } from '../credit-order.js';

export interface Resources {
  readonly pool: Pool;
  /** The URL of a Redis, for designs that need one. */
  readonly redis?: string | undefined;
}

/** A way to credit once. Runs of the harness differ in nothing else. */
export interface Design {
  readonly store: (resources: Resources) => PaymentStore<Queryable>;
  /** The credit of an order. Default: insert the credit and rely on the store alone. */
  readonly credit?: Credit;
  readonly needsRedis?: true;
  /**
   * Set if kills break the design. A harness that does not find the faulty designs would prove
   * nothing about the others.
   */
  readonly loses: boolean;
  readonly doubles: boolean;
}
