/** What the store logs about a handler, and what to write instead. */
import { WebhookError, type Logger } from '@paylink/core';

const NOTHING_WRITTEN =
  'the handler ran UPDATE, DELETE or MERGE through `tx`, and no statement changed or returned a row: the order is not there (yet), ' +
  'or the WHERE does not find it. ';
const READ_FIRST =
  'Read the order in the transaction with SELECT … FOR UPDATE: where there is none, throw ' +
  "new WebhookError('unknown_order', { status: 503 }); where it is already paid, return. ";
const ALLOW = "Where changing nothing is right: postgresStore(pool, { nothingWritten: 'warn' })";

const UNUSED =
  'a handler ended without using `tx`, so what it wrote is not in the transaction of the mark: a crash between the two loses or repeats it. ' +
  'Write through `tx`';
const STARVED =
  'handlers wait for connections that their own transactions hold: every connection of the pool is in a transaction of this store, ' +
  'and a handler ran out of time without using `tx`. Write through `tx`, never through the pool';
const LATE =
  '`tx` was used after its handler had returned: the statement was refused, and the event is done without it. ' +
  'Await every statement: `for (const item of items) await tx.query(…)` in place of forEach, and no timers';

/** Logs, and never lets a logger that throws change the answer. */
export class Warnings {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #nothingWritten: 'refuse' | 'warn';
  #unused = false;

  constructor(logger: Pick<Logger, 'warn'>, nothingWritten: 'refuse' | 'warn') {
    this.#logger = logger;
    this.#nothingWritten = nothingWritten;
  }

  /** @throws WebhookError `nothing_written`, unless only a warning is asked for. */
  nothingWritten(): void {
    if (this.#nothingWritten === 'refuse') {
      const message = `${NOTHING_WRITTEN}Nothing was committed, so that the sender may retry. ${READ_FIRST}${ALLOW}`;
      throw new WebhookError('nothing_written', { message });
    }
    this.#warn(`${NOTHING_WRITTEN}The event is done all the same, as \`nothingWritten: 'warn'\` asks. ${READ_FIRST}`);
  }

  /** Once for each store. */
  unused(starved: boolean, consequence = ''): void {
    if (this.#unused) return;
    this.#unused = true;
    this.#warn(`${starved ? STARVED : UNUSED}${consequence}`);
  }

  lateUse(): void {
    this.#warn(LATE);
  }

  #warn(message: string): void {
    try {
      this.#logger.warn(`[paylink] ${message}`);
    } catch {
      // The logger's own fault: the delivery goes on.
    }
  }
}
