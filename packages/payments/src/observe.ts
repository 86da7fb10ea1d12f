/**
 * Reports the outcomes of payments to the merchant. Neither the hook nor the log can change an
 * outcome.
 */
import { isWebhookError, type Logger } from '@paylink/core';
import { hostError, logLine } from '@paylink/core/internal';
import type { Credited, Source } from './credit.js';

/** The outcome of one event or one credit. */
export interface PaymentOutcome {
  /**
   * A receiver with its own `observe` also reports deliveries with source `webhook`. Count only
   * one.
   */
  readonly source: Source;
  readonly outcome: Credited | 'ignored' | 'failed';
  /** The error code. Set if the outcome is `failed`. */
  readonly code?: string;
  readonly kind: string;
  readonly reference: string;
  readonly tenant: string | undefined;
  readonly durationMs: number;
}

/** Runs `work`, and reports the outcome to `observe`. */
export async function observed<Outcome extends PaymentOutcome['outcome']>(
  observe: ((outcome: PaymentOutcome) => unknown) | undefined,
  facts: Pick<PaymentOutcome, 'source' | 'kind' | 'reference' | 'tenant'>,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const started = performance.now();
  const report = (ended: Pick<PaymentOutcome, 'outcome' | 'code'>): void =>
    tell(observe, { ...facts, ...ended, durationMs: performance.now() - started });
  try {
    const outcome = await work();
    report({ outcome });
    return outcome;
  } catch (error) {
    report({ outcome: 'failed', code: codeOf(error) });
    throw error;
  }
}

/** Logs the reason why a payment that the service confirmed was not credited. */
export function logFailure(
  logger: Logger,
  order: Pick<PaymentOutcome, 'source' | 'reference'>,
  thrown: unknown,
): void {
  const error = hostError(thrown);
  const status = isWebhookError(error) ? error.status : 500;
  const { reference } = order;
  logger.error(logLine(error, order), { code: codeOf(error), status, reference });
}

/** Calls a merchant's hook. Errors and rejections of the hook have no effect. */
export function tell<T>(hook: ((value: T) => unknown) | undefined, value: T): void {
  const call = async (): Promise<unknown> => hook?.(value);
  call().catch(() => undefined);
}

/** Returns the code of a WebhookError, or `handler_failed`. */
export function codeOf(error: unknown): string {
  return isWebhookError(error) ? error.code : 'handler_failed';
}
