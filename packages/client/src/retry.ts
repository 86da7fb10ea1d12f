import { withinBounds } from '@paylink/core/internal';
import { isPaylinkError, PaylinkError } from './errors.js';
import type { Settings } from './options.js';
import { send, type Call, type Reply } from './request.js';

/** Most milliseconds of the random wait before the first retry. Doubles with each try. */
const FIRST_DELAY = 250;

/**
 * Sends until a try succeeds or fails for good, or until the tries or the time run out. Waits with
 * full jitter in between, so that clients that failed together do not retry together, and never
 * less than the service asks for. A reading never retries a 429, because payments pauses the
 * questions of all orders.
 *
 * @throws PaylinkError of the last try, or `aborted`
 */
export async function sendWithRetries(
  settings: Settings,
  call: Call,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  const { idempotencyKey } = call;
  const isCreation = idempotencyKey !== undefined;
  const end = performance.now() + settings.totalTimeout;
  let mayHaveCreated: true | undefined;
  const abortion = (): PaylinkError => {
    const details = { idempotencyKey, mayHaveCreated, cause: signal?.reason as unknown };
    return new PaylinkError('aborted', 'the caller aborted', details);
  };
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) throw abortion();
    const milliseconds = Math.min(settings.timeout, Math.max(1, end - performance.now()));
    const late = `the service did not answer in ${Math.round(milliseconds)} ms`;
    const controller = new AbortController();
    const reason = (aborted: Pick<AbortSignal, 'reason'> | undefined): void => {
      controller.abort(
        aborted ? abortion() : new PaylinkError('timeout', late, { idempotencyKey }),
      );
    };
    const sending = send(settings, call, controller.signal);
    // The try decides how to end, because it may know a status whose body did not arrive.
    await withinBounds(sending, { milliseconds, signals: [signal], reason }).catch(() => undefined);
    try {
      return await sending;
    } catch (error) {
      if (!isPaylinkError(error)) throw error;
      const { code, status = 500, retryAfter = 0 } = error;
      // The service may have created the link unless it refused. It can refuse a later try because
      // an earlier one created the link.
      if (isCreation && (status < 400 || status > 499)) mayHaveCreated = true;
      if (mayHaveCreated) Object.assign(error, { mayHaveCreated });
      const isWorthRetrying =
        ['network_error', 'timeout', 'service_error'].includes(code) ||
        (isCreation && code === 'rate_limited') ||
        (mayHaveCreated && code === 'conflict');
      const wait = retryAfter + Math.random() * FIRST_DELAY * 2 ** (tries - 1);
      const isOver = tries > settings.retries || performance.now() + wait >= end;
      if (!isWorthRetrying || isOver) throw error;
      if (wait > 0) await pause(wait, signal);
    }
  }
}

/** Waits, at most until the caller aborts. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const never = new Promise<never>(() => undefined);
  await withinBounds(never, { milliseconds, signals: [signal] }).catch(() => undefined);
}
