/**
 * Reports the outcomes of payments to the merchant. Neither the hook nor the log can change an
 * outcome.
 */
import { isWebhookError, logLine, type Logger } from '@paylink/core';
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
  { source, reference }: Pick<PaymentOutcome, 'source' | 'reference'>,
  error: unknown,
): void {
  const { code, status } = factsOf(error);
  const order = `(${source} of the order ${JSON.stringify(reference.slice(0, 100))})`;
  const line = logLine(status, code, `${describe(error)} ${order}`);
  logger.error(line, { code, status, reference });
}

/** Calls a merchant's hook. Errors and rejections of the hook have no effect. */
export function tell<T>(hook: ((value: T) => unknown) | undefined, value: T): void {
  const call = async (): Promise<unknown> => hook?.(value);
  call().catch(() => undefined);
}

/** Returns the code of a WebhookError, or `handler_failed`. */
export function codeOf(error: unknown): string {
  return factsOf(error).code;
}

function factsOf(error: unknown): { readonly code: string; readonly status: number } {
  return isWebhookError(error) ? error : { code: 'handler_failed', status: 500 };
}

/**
 * Returns the message and the cause in one line, as a receiver logs them. Some values in an error
 * of `credit` may be unreadable.
 */
function describe(error: unknown): string {
  try {
    if (!(error instanceof Error)) return 'credit threw';
    const { cause, name, message } = error;
    const problem = isWebhookError(error) ? message : `credit threw ${name}: ${message}`;
    const reason = cause instanceof Error ? ` (${cause.name}: ${cause.message})` : '';
    return `${problem}${reason}`.replace(/\s+/g, ' ');
  } catch {
    return 'credit threw an error that cannot be read';
  }
}
