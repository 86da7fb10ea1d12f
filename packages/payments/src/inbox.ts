/** Keeps deliveries that failed. No reply waits for the inbox, and no fault of it changes one. */
import { identify, type Identity } from './identity.js';
import { codeOf } from './observe.js';
import type { AnyEvent, Settings } from './settings.js';

/** A proven delivery whose handling failed. */
export interface FailedDelivery {
  /** The key of `identify`, in lower-case hex. */
  readonly key: string;
  readonly kind: string;
  readonly reference: string;
  /** Undefined if there is one merchant. */
  readonly tenant: string | undefined;
  /** The bytes that the signature covered. */
  readonly rawBody: Uint8Array;
  /** The code of the failure, such as `not_credited`. */
  readonly code: string;
}

/** A delivery as an inbox lists it, without the body. */
export interface KeptDelivery extends Omit<FailedDelivery, 'rawBody'> {
  /** How often deliveries of this key have failed. `code` is that of the last failure. */
  readonly attempts: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  /** The length of the body in bytes. */
  readonly size: number;
}

/** Failed deliveries, one for each key. A key that is done meanwhile is no longer listed. */
export interface Inbox {
  /** Resolves when the delivery is kept. Again under the same key, it raises `attempts`. */
  keep(failed: FailedDelivery): Promise<void>;
  /** Removes a delivery that needs no handling any more. */
  discard(key: string): Promise<void>;
  /**
   * Lists the oldest first. For the next page, `after` is the last delivery of the page before.
   * Default limit: 100.
   */
  list(options?: {
    readonly limit?: number | undefined;
    readonly after?: Pick<KeptDelivery, 'key' | 'firstFailedAt'> | undefined;
  }): Promise<readonly KeptDelivery[]>;
  /** Gives a listed delivery with its body, or undefined. */
  get(key: string): Promise<(KeptDelivery & Pick<FailedDelivery, 'rawBody'>) | undefined>;
  /** Deletes deliveries that failed last before this date, listed or not. Returns their number. */
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

type Parts = Pick<Settings<never, never>, 'inbox' | 'logger'>;

export interface Delivered {
  readonly event: AnyEvent;
  readonly kind: string;
  readonly tenant: string | undefined;
}

/** Keeps a delivery whose handling threw `error`. */
export function keepFailed(
  { inbox, logger }: Parts,
  { event: { reference, rawBody }, kind, tenant }: Delivered,
  error: unknown,
): void {
  if (inbox === undefined) return;
  const keep = async (): Promise<void> => {
    // An event without an identity is refused: no later delivery of it could succeed.
    const identity = await identify({ tenant, kind, reference }).catch(() => undefined);
    if (identity === undefined) return;
    const { key } = identity;
    await inbox.keep({ key, kind, reference, tenant, rawBody, code: codeOf(error) });
  };
  keep().catch((cause: unknown) => {
    const order = JSON.stringify(reference.slice(0, 100));
    const problem = cause instanceof Error ? cause.message : 'the store threw no Error';
    const line = `[paylink] not_kept: the failed delivery of the order ${order} is not in the inbox`;
    logger.error(`${line}: ${problem}. \`reconcile\` credits the order if it is paid`, {
      code: 'not_kept',
      reference,
      kind,
    });
  });
}

/** Discards an earlier failure of an order whose payment failed or was cancelled. */
export function discardFailed({ inbox }: Parts, { key }: Identity): void {
  const discard = async (): Promise<void> => inbox?.discard(key);
  // The delivery stays listed, and the next replay discards it.
  discard().catch(() => undefined);
}
