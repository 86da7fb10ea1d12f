import { clearTimeout, setTimeout } from 'node:timers';
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { EmulatorError, type EmulatorErrorCode } from '../base/emulator-error.js';
import { quote } from '../base/visible-text.js';
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

/** The calls that wait for a delivery. */
export class Waiting {
  readonly #deliveries: () => EmulatorDelivery[];
  readonly #waiters = new Set<Waiter>();

  constructor(deliveries: () => EmulatorDelivery[]) {
    this.#deliveries = deliveries;
  }

  /**
   * Resolves with the newest matching delivery, at once if it exists. `why` explains a timeout
   * without a delivery.
   *
   * @throws ConfigurationError for a wrong option, EmulatorError `wait_timeout`, or the error of
   *   `endAll`
   */
  async wait(awaited: AwaitedDelivery, why: () => string): Promise<EmulatorDelivery> {
    const own = validateAwaited(awaited);
    const { reference, timeout = 5_000 } = own;
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
        const seen = this.#deliveries().findLast((delivery) => delivery.reference === reference);
        const message = `${goalOf(own)} within ${timeout} ms: ${explain(seen) ?? why()}`;
        waiter.fail(new EmulatorError('wait_timeout', message));
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
  const own = validateOptions(awaited, ['reference', 'status', 'timeout']);
  const { reference, status, timeout } = own;
  check(typeof reference === 'string', 'reference', 'must be a string');
  if (status !== undefined) validateBound('status', status, 100, 599);
  if (timeout !== undefined) validateBound('timeout', timeout);
  return own;
}

function isMatch(delivery: EmulatorDelivery, { reference, status }: AwaitedDelivery): boolean {
  if (delivery.reference !== reference) return false;
  if (status === undefined) return delivery.state === 'delivered';
  return delivery.attempts.some(({ response }) => response?.status === status);
}

function goalOf({ reference, status }: AwaitedDelivery): string {
  const goal = status === undefined ? 'acknowledged' : `answered ${status}`;
  return `no notification of ${quote(reference)} was ${goal}`;
}

function explain(delivery: EmulatorDelivery | undefined): string | undefined {
  if (delivery === undefined) return undefined;
  const { state, attemptCount, attempts } = delivery;
  if (state === 'unsent') return 'it was not sent, because its delivery has times: 0';
  const last = attempts.at(-1);
  if (last === undefined) return 'the emulator has not sent it yet';
  const { response, error } = last;
  const count = attemptCount === 1 ? '1 attempt' : `${attemptCount} attempts`;
  if (response === undefined) return `${count}, the last without an answer: ${error}`;
  const answer = [response.status, response.code].filter((part) => part !== undefined).join(' ');
  return `${count}, the last answered ${answer}`;
}
