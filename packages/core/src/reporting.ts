/** Reports each delivery: always to the `observe` hook, and to the log if something needs a fix. */
import { callQuietly, cutReference, logLine, refusalOf } from './logger.js';
import type { LogFields, Logger } from './logger.js';
import type { Proven, WebhookEvent } from './event.js';
import type { Refusal } from './reply.js';

/** The outcome of one delivery. Fit for metrics: every field but `reference` has few values. */
export type DeliveryOutcome = {
  /**
   * `handled`: the handler succeeded, or the gate passed the event on. `ignored`: signed, but of
   * another kind. `rejected`: refused because of the delivery's content. `failed`: refused because
   * of a fault on this side, so a retry may help.
   */
  readonly outcome: 'handled' | 'ignored' | 'rejected' | 'failed';
  /** The code of the error. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`. Set only after the signature matched. */
  readonly type?: string;
  /** Set only after the signature matched. */
  readonly reference?: string;
  /** Set only after the signature matched. Above 0, the sender still uses an old secret. */
  readonly secretIndex?: number;
  readonly bodyBytes: number;
  readonly durationMs: number;
};

export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

interface Hooks {
  readonly observe: ObserveHook | undefined;
  readonly logger: Logger;
  readonly refusals: RefusalLog;
}

const MINUTE = 60_000;

/** Logs the first refusal of each code at once, then at most one line per minute with the count. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #silences = new Map<string, { readonly until: number; readonly more: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(line: string, fields: LogFields & { readonly status: number }): void {
    const now = performance.now();
    const { until, more } = this.#silences.get(fields.code) ?? { until: 0, more: 0 };
    if (now < until) {
      this.#silences.set(fields.code, { until, more: more + 1 });
      return;
    }
    this.#silences.set(fields.code, { until: now + MINUTE, more: 0 });
    const count = more === 0 ? '' : ` (and ${more} more since the last line)`;
    if (fields.status > 499) this.#logger.error(line + count, fields);
    else this.#logger.warn(line + count, fields);
  }
}

/** Collects the facts of one delivery as they become known. */
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

  /** @param isByMerchant true if a handler or a schema threw, so `thrown` can be any value */
  fail(thrown: unknown, isByMerchant: boolean): Refusal {
    const refusal = refusalOf(thrown);
    const { code, status } = refusal;
    const isFailure = isByMerchant || status > 499;
    this.end(isFailure ? 'failed' : 'rejected', code);
    const { event } = this;
    const line = logLine(thrown, event, refusal);
    const fields = {
      code,
      status,
      reference: event && cutReference(event.reference),
      kind: event?.type === 'unrecognized' ? event.kind : event?.type,
      ...(isByMerchant ? { error: thrown } : {}),
    };
    // A stranger can cause endless refusals, but needs a genuine body to cause these lines.
    if (this.proven === undefined) this.#hooks.refusals.log(line, fields);
    else if (isFailure) this.#hooks.logger.error(line, fields);
    else this.#hooks.logger.warn(line, fields);
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
