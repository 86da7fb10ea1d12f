/**
 * Stores failed deliveries. No reply waits for the inbox, and no fault of the inbox changes a
 * reply.
 */
import { identify, type Identity } from './identity.js';
import { codeOf } from './observe.js';
import type { AnyEvent, Settings } from './settings.js';

/** A proven delivery whose handling failed. */
export interface FailedDelivery {
  /** The key that `identify` returns, in lower-case hex. */
  readonly key: string;
  readonly kind: string;
  readonly reference: string;
  /** Undefined with one merchant. */
  readonly tenant: string | undefined;
  /** The signed bytes. */
  readonly rawBody: Uint8Array;
  /** The code of the failure, such as `not_credited`. */
  readonly code: string;
}

/** A delivery in the inbox's list, without the body. */
export interface KeptDelivery extends Omit<FailedDelivery, 'rawBody'> {
  /** Number of failed deliveries with this key. `code` is the code of the last failure. */
  readonly attempts: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  /** The length of the body in bytes. */
  readonly size: number;
}

/** Failed deliveries, one per key. A key that is done in the meantime disappears from the list. */
export interface Inbox {
  /** Resolves when the delivery is stored. A second call with the same key raises `attempts`. */
  keep(failed: FailedDelivery): Promise<void>;
  /** Removes a delivery that needs no handling anymore. */
  discard(key: string): Promise<void>;
  /**
   * Lists the oldest deliveries first. For the next page, pass the last delivery as `after`.
   * Default limit: 100.
   */
  list(options?: {
    readonly limit?: number | undefined;
    readonly after?: Pick<KeptDelivery, 'key' | 'firstFailedAt'> | undefined;
  }): Promise<readonly KeptDelivery[]>;
  /** Returns a listed delivery with its body, or undefined. */
  get(key: string): Promise<(KeptDelivery & Pick<FailedDelivery, 'rawBody'>) | undefined>;
  /**
   * Deletes deliveries whose last failure is older than this date, listed or not. Returns their
   * number.
   */
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

type Parts = Pick<Settings<never, never>, 'inbox' | 'logger'>;

export interface Delivered {
  readonly event: AnyEvent;
  readonly kind: string;
  readonly tenant: string | undefined;
}

/** Stores a delivery whose handling threw `error`. */
export function keepFailed(
  { inbox, logger }: Parts,
  { event: { reference, rawBody }, kind, tenant }: Delivered,
  error: unknown,
): void {
  if (inbox === undefined) return;
  const keep = async (): Promise<void> => {
    // Skips an event without an identity, because no later delivery of it could succeed.
    const identity = await identify({ tenant, kind, reference }).catch(() => undefined);
    if (identity === undefined) return;
    const { key } = identity;
    await inbox.keep({ key, kind, reference, tenant, rawBody, code: codeOf(error) });
  };
  keep().catch((cause: unknown) => {
    const order = JSON.stringify(reference.slice(0, 100));
    const problem =
      cause instanceof Error ? cause.message : 'the store threw a value that is not an Error';
    const line = `[paylink] not_kept: the inbox lacks the failed delivery of the order ${order}`;
    logger.error(`${line}: ${problem}. \`reconcile\` credits the order if the payment succeeded`, {
      code: 'not_kept',
      reference,
      kind,
    });
  });
}

/** Discards an earlier failure of an order whose payment failed or was cancelled. */
export function discardFailed({ inbox }: Parts, { key }: Identity): void {
  const discard = async (): Promise<void> => inbox?.discard(key);
  // On an error the delivery stays listed, and the next replay discards it.
  discard().catch(() => undefined);
}
