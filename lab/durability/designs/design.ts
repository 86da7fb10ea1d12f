import type { PaymentStore } from '@paylink/payments';
import type { Pool } from 'pg';
import type { Credit, Queryable } from '../credit-order.js';

export interface Resources {
  readonly pool: Pool;
  /** URL of a Redis, for the designs that need one. */
  readonly redis?: string | undefined;
}

/** A way to credit once. Nothing else differs between two runs of the harness. */
export interface Design {
  readonly store: (resources: Resources) => PaymentStore<Queryable>;
  /**
   * How an order is credited. Default: the credit is inserted, and the store alone does it once.
   */
  readonly credit?: Credit;
  readonly needsRedis?: true;
  /**
   * What kills do to it. A harness that does not find the faulty designs would prove nothing of the
   * others.
   */
  readonly loses: boolean;
  readonly doubles: boolean;
}
