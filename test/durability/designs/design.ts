import type { IdempotencyStore } from '@paylink/core';
import type { Pool } from 'pg';
import type { Credit, Queryable } from '../credit-order.js';

export interface Resources {
  readonly pool: Pool;
  /** URL of a Redis, for the designs that need one. */
  readonly redis?: string | undefined;
}

/** A way to credit once. Nothing else differs between two runs of the harness. */
export interface Design {
  readonly store: (resources: Resources) => IdempotencyStore<{ readonly tx: Queryable }>;
  /** How the handler credits. Default: it inserts the credit, and leaves it to the store that it does so once. */
  readonly credit?: Credit;
  readonly needsRedis?: true;
  /** What kills do to it. A harness in which the faulty ones do not fail would prove nothing of those that do not. */
  readonly loses: boolean;
  readonly doubles: boolean;
}
