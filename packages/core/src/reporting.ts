/** Reports each delivery: always to the `observe` hook, and to the log if something needs a fix. */
import { callQuietly, cutReference, logLine, refusalOf } from './logger.js';
import type { LineLimit, Logger } from './logger.js';
import type { Proven, WebhookEvent } from './event.js';
import type { Refusal } from './reply.js';

/** The outcome of a delivery. Use `outcome`, `code`, `type` and `secretIndex` as metric labels. */
export type DeliveryOutcome = {
  /**
   * `handled`: the handler succeeded, or the gate passed the event on. `ignored`: the event is
   * signed, but its kind has no handler. `failed`: the handler failed, or the reply is a 5xx.
   * `rejected`: the reply is a 4xx from Paylink or from a schema's WebhookError. The code shows
   * whether a retry may help.
   */
  readonly outcome: 'handled' | 'ignored' | 'rejected' | 'failed';
  /** The error code if the outcome is `rejected` or `failed`. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`. Set only after the signed body was parsed. */
  readonly type?: string;
  /** The merchant's payment reference. Set only after the signed body was parsed. */
  readonly reference?: string;
  /** Index of the secret that matched, if any. During a rotation, 1 or more means an old secret. */
  readonly secretIndex?: number;
  /** The length of the body, or 0 if it was not read to the end. */
  readonly bodyBytes: number;
  /** Milliseconds from the call to `receive` until the outcome. */
  readonly durationMs: number;
};

/** Called once with the outcome of each delivery. */
export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

interface Hooks {
  readonly observe: ObserveHook | undefined;
  readonly logger: Logger;
  readonly refusals: LineLimit;
}

export class DeliveryReport {
  readonly #hooks: Hooks;
  readonly #started: number;
  bodyBytes = 0;
  /** Set once the signature matched. */
  proven: Proven | undefined = undefined;
  /** Set once the signed body was parsed. */
  event: WebhookEvent | undefined = undefined;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
    this.#started = hooks.observe === undefined ? 0 : performance.now();
  }

  /** @param isByMerchant true if the handler failed, or a schema threw an error that is not ours */
  fail(thrown: unknown, isByMerchant: boolean): Refusal {
    const refusal = refusalOf(thrown);
    const { code, status } = refusal;
    const isFailure = isByMerchant || status > 499;
    this.end(isFailure ? 'failed' : 'rejected', code);
    // A stranger can cause endless refusals, but needs a genuine body to cause the other lines.
    const dropped = this.proven === undefined ? this.#hooks.refusals.take(code) : 0;
    if (dropped === undefined) return refusal;
    const { event } = this;
    const count = dropped === 0 ? '' : ` (and ${dropped} more since the last line)`;
    this.#hooks.logger[isFailure ? 'error' : 'warn'](logLine(thrown, event, refusal) + count, {
      code,
      status,
      reference: event && cutReference(event.reference),
      kind: event?.type === 'unrecognized' ? event.kind : event?.type,
      ...(isByMerchant ? { error: thrown } : {}),
    });
    return refusal;
  }

  end(outcome: DeliveryOutcome['outcome'], code?: string): void {
    const { observe } = this.#hooks;
    if (observe === undefined) return;
    const { proven, event, bodyBytes } = this;
    const facts: DeliveryOutcome = {
      outcome,
      ...(code === undefined ? {} : { code }),
      ...(proven && { secretIndex: proven.secretIndex }),
      ...(event && { type: event.type, reference: event.reference }),
      bodyBytes,
      durationMs: performance.now() - this.#started,
    };
    callQuietly(() => observe(facts));
  }
}
