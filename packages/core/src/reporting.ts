/** What is reported of a delivery: to the hook always, to the log where the merchant has something to fix. */
import { isProduction } from './environment.js';
import { check, ConfigurationError, isWebhookError, type WebhookError } from './errors.js';
import type { ReadEvent } from './event-reader.js';
import { describeCause, HandlerError } from './host-error.js';
import { logLine } from './log-line.js';
import { warnOnce, type Logger } from './logger.js';
import { statusOf } from './reply.js';
import type { EventSchemas } from './schema.js';

/** How one delivery ended. Every field but `reference` comes from a fixed set or is a number, so they fit metrics. */
export interface DeliveryOutcome {
  /**
   * `handled`: the handler is done, or the gate handed the event on. `duplicate`: it was done before. `ignored`: signed, and
   * not for this receiver. `rejected`: refused for what was sent. `failed`: refused for a fault on this side, so worth a retry.
   */
  readonly outcome: 'handled' | 'duplicate' | 'ignored' | 'rejected' | 'failed';
  /** The error's code; on `handled`, the contradiction of a signed status where `confirm` decided. */
  readonly code?: string;
  /** A configured kind, or `unrecognized`; only where the signature was right. */
  readonly type?: string;
  /** Only where the signature was right. */
  readonly reference?: string;
  readonly secretIndex?: number;
  readonly bodyBytes: number;
  readonly durationMs: number;
}

export type ObserveHook = (outcome: DeliveryOutcome) => unknown;

/** What is gathered of one delivery on its way. */
export type Facts = Mutable<Omit<DeliveryOutcome, 'outcome' | 'durationMs'>> & { readonly started: number };

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

export function startFacts(): Facts {
  return { bodyBytes: 0, started: performance.now() };
}

export function noteEvent<Events extends EventSchemas>(read: ReadEvent<Events>, facts: Facts): ReadEvent<Events>['event'] {
  const { event, contradiction } = read;
  facts.type = event.type;
  facts.reference = event.reference;
  facts.secretIndex = event.secretIndex;
  if (contradiction !== undefined) facts.code = contradiction;
  return event;
}

export interface Reporter {
  outcome(facts: Facts, outcome: DeliveryOutcome['outcome']): void;
  /** @param byHandler whether the handler was under way */
  failure(error: unknown, facts: Facts, byHandler: boolean): void;
}

/** @throws ConfigurationError when `observe` is not a function. */
export function createReporter(observe: ObserveHook | undefined, logger: Logger): Reporter {
  check(observe === undefined || typeof observe === 'function', 'observe', 'must be a function');
  const warn = warnOnce(logger);
  const errorOnce = warnOnce({ ...logger, warn: (message) => logger.error(message) });

  function outcome(facts: Facts, outcome: DeliveryOutcome['outcome']): void {
    if (observe === undefined) return;
    const { started, ...rest } = facts;
    // In an async function, so that a hook that throws and one that rejects are the same: it changes nothing.
    const report = async (): Promise<void> => {
      await observe({ outcome, ...rest, durationMs: performance.now() - started });
    };
    report().catch(() => undefined);
  }

  function failure(error: unknown, facts: Facts, byHandler: boolean): void {
    const { code, status } = isWebhookError(error) ? error : { code: 'handler_failed', status: 500 };
    facts.code = code;
    outcome(facts, status > 499 || byHandler ? 'failed' : 'rejected');
    // Koa and Express print the stack of an error, and that has no cause in it.
    if (error instanceof HandlerError) logger.error(logLine(500, 'handler_failed', describeCause(error)));
    // A handler's own code is the merchant's business: it was thrown on purpose.
    if (!isWebhookError(error) || statusOf(code) === undefined) return;
    const line = logLine(status, code, `${error.message}${causeOf(error)}`);
    // It needs no right signature, so a stranger could bring it about without end.
    if (code === 'body_consumed') errorOnce(line);
    else if (status > 499) logger.error(line);
    // A stranger can be refused without end: in production that is silent, elsewhere each cause is logged once.
    else if (!byHandler && !isProduction()) warn(line);
  }

  return { outcome, failure };
}

function causeOf({ code, cause }: WebhookError): string {
  if (!(cause instanceof Error)) return '';
  // What a function for the secret or the tenant throws can quote the secret; our own words never do.
  const quiet = code === 'secret_unavailable' && !(cause instanceof ConfigurationError);
  return quiet ? ` (${cause.name})` : ` (${cause.name}: ${cause.message})`;
}
