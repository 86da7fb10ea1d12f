import type { LogFields, Logger } from './logger.js';

const MINUTE = 60_000;

interface Silence {
  readonly until: number;
  /** Refusals that were not logged. */
  readonly more: number;
}

/** Logs the first refusal of each code at once, then at most one line per minute with the count. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #silences = new Map<string, Silence>();

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
