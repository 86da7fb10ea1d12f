import { clearTimeout, setTimeout } from 'node:timers';
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { EmulatorError, type EmulatorErrorCode } from '../emulator-error.js';
import { isFault } from '../faults/faults.js';
import { quote } from '../visible-text.js';
import type { EmulatorDelivery } from './delivery.js';

/** The options of `waitForDelivery`. */
export interface AwaitedDelivery {
  readonly reference: string;
  /** The status of your server's answer. Default: any status that acknowledges the notification. */
  readonly status?: number | undefined;
  /** Milliseconds by the real clock, even under fake timers. Default 5,000. */
  readonly timeout?: number | undefined;
}

interface Waiter {
  readonly look: () => void;
  readonly fail: (error: EmulatorError) => void;
}

const KNOWN = ['reference', 'status', 'timeout'];

export class Waiting {
  readonly #deliveries: () => EmulatorDelivery[];
  readonly #waiters = new Set<Waiter>();

  constructor(deliveries: () => EmulatorDelivery[]) {
    this.#deliveries = deliveries;
  }

  /**
   * Resolves with the newest matching delivery, at once if it exists. `why` explains a timeout to a
   * person.
   *
   * @throws ConfigurationError for a wrong option, EmulatorError `wait_timeout`, or the error of
   *   `endAll`
   */
  async wait(awaited: AwaitedDelivery, why: () => string): Promise<EmulatorDelivery> {
    const own = validateAwaited(awaited);
    const { timeout = 5_000 } = own;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        look: () => {
          const found = this.#deliveries().findLast((delivery) => isMatch(delivery, own));
          if (found === undefined) return;
          end();
          resolve(found);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        const seen = this.#deliveries().filter(isOf(own)).at(-1);
        waiter.fail(
          new EmulatorError(
            'wait_timeout',
            `${goalOf(own)} within ${timeout} ms: ${explain(seen) ?? why()}`,
          ),
        );
      }, timeout);
      this.#waiters.add(waiter);
      waiter.look();
    });
  }

  /** Checks all waiting calls. Call it after every change. */
  readonly look = (): void => {
    for (const { look } of this.#waiters) look();
  };

  endAll(code: EmulatorErrorCode, message: string): void {
    for (const { fail } of this.#waiters) fail(new EmulatorError(code, message));
  }
}

function validateAwaited(awaited: AwaitedDelivery): AwaitedDelivery {
  const own = validateOptions(awaited, KNOWN);
  const { reference, status, timeout } = own;
  check(typeof reference === 'string', 'reference', 'must be a string');
  if (status !== undefined) validateBound('status', status, 100, 599);
  if (timeout !== undefined) validateBound('timeout', timeout);
  return own;
}

/** Excludes faults, because `sendFault` returns its own outcome. */
function isOf({ reference }: AwaitedDelivery): (delivery: EmulatorDelivery) => boolean {
  return (delivery) => delivery.reference === reference && !isFault(delivery.fault);
}

function isMatch(delivery: EmulatorDelivery, awaited: AwaitedDelivery): boolean {
  if (!isOf(awaited)(delivery)) return false;
  const { status } = awaited;
  if (status === undefined) return delivery.state === 'delivered';
  return delivery.attempts.some(({ response }) => response?.status === status);
}

function goalOf({ reference, status }: AwaitedDelivery): string {
  return (
    `no notification of ${quote(reference)} was ` +
    (status === undefined ? 'acknowledged' : `answered ${status}`)
  );
}

function explain(delivery: EmulatorDelivery | undefined): string | undefined {
  if (delivery === undefined) return undefined;
  const { state, attemptCount, attempts } = delivery;
  if (state === 'dropped') return 'a disturbance dropped it';
  const last = attempts.at(-1);
  if (last === undefined) return 'the emulator has not sent it yet';
  const count = attemptCount === 1 ? '1 attempt' : `${attemptCount} attempts`;
  return (
    `${count}, the last ` +
    (last.response === undefined
      ? `without an answer: ${last.error}`
      : `answered ${last.response.status}`)
  );
}
