/** Tells the merchant how payments ended. Neither the hook nor the log can change anything. */
import { isWebhookError, logLine, type Logger } from '@paylink/core';
import type { Credited, Source } from './credit.js';

/** How one event or one credit ended. */
export interface PaymentOutcome {
  /** A receiver with its own `observe` reports the deliveries of `webhook` too: count one. */
  readonly source: Source;
  readonly outcome: Credited | 'ignored' | 'failed';
  /** The code of the error if the outcome is `failed`. */
  readonly code?: string;
  readonly kind: string;
  readonly reference: string;
  readonly tenant: string | undefined;
  readonly durationMs: number;
}

/** Runs `work`, and tells `observe` how it ended. */
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

/** Logs why a payment that the service has confirmed was not credited. */
export function logFailure(
  logger: Logger,
  { source, reference }: Pick<PaymentOutcome, 'source' | 'reference'>,
  error: unknown,
): void {
  const { code, status } = factsOf(error);
  const { message } = isWebhookError(error) ? error : { message: describe(error) };
  const text = `${message} (${source} of the order ${JSON.stringify(reference.slice(0, 100))})`;
  logger.error(logLine(status, code, text), { code, status, reference });
}

/** Calls a hook of the merchant. An error or a rejection of the hook has no effect. */
export function tell<T>(hook: ((value: T) => unknown) | undefined, value: T): void {
  const call = async (): Promise<unknown> => hook?.(value);
  call().catch(() => undefined);
}

/** The code of a WebhookError, or `handler_failed`. */
export function codeOf(error: unknown): string {
  return factsOf(error).code;
}

function factsOf(error: unknown): { readonly code: string; readonly status: number } {
  return isWebhookError(error) ? error : { code: 'handler_failed', status: 500 };
}

function describe(error: unknown): string {
  return error instanceof Error ? `credit threw ${error.name}: ${error.message}` : 'credit threw';
}
