import { clearTimeout, setTimeout } from 'node:timers';
import { check, validateBound, validateOptions } from '@paylink/core/internal';
import { EmulatorError, type EmulatorErrorCode } from '../base/emulator-error.js';
import { quote } from '../base/visible-text.js';
import { countOf, resultOf, type EmulatorDelivery } from './delivery.js';

/** The options of `waitForDelivery`. */
export interface AwaitedDelivery {
  readonly reference: string;
  /** The status of your server's reply. Default: any status that acknowledges the notification. */
  readonly status?: number | undefined;
  /** Milliseconds on the real clock, even with fake timers. Default 5,000. */
  readonly timeout?: number | undefined;
}

interface Waiter {
  readonly look: () => void;
  readonly fail: (code: EmulatorErrorCode, message: string) => void;
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
   * @throws ConfigurationError for a wrong option, EmulatorError `wait_timeout`, or the code of
   *   `endAll`
   */
  async wait(awaited: AwaitedDelivery, why: () => string): Promise<EmulatorDelivery> {
    const { reference, status, timeout } = validateAwaited(awaited);
    const ofIt = (): EmulatorDelivery[] =>
      this.#deliveries().filter((delivery) => delivery.reference === reference);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        settle();
      };
      const waiter: Waiter = {
        look: () => {
          const found = ofIt().findLast((delivery) => isMatch(delivery, status));
          if (found !== undefined) end(() => resolve(found));
        },
        fail: (code, message) => end(() => reject(new EmulatorError(code, message))),
      };
      const timer = setTimeout(() => {
        const goal = status === undefined ? 'acknowledged' : `answered ${status}`;
        const last = ofIt().at(-1);
        const reason = last === undefined ? why() : explain(last);
        const message = `no notification for ${quote(reference)} was ${goal} within ${timeout} ms`;
        waiter.fail('wait_timeout', `${message}: ${reason}`);
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
    for (const { fail } of this.#waiters) fail(code, message);
  }
}

function validateAwaited(awaited: AwaitedDelivery): AwaitedDelivery & { readonly timeout: number } {
  const own = validateOptions(awaited, ['reference', 'status', 'timeout'], 'awaited');
  const { reference, status, timeout = 5_000 } = own;
  check(typeof reference === 'string', 'reference', 'must be a string');
  if (status !== undefined) validateBound('status', status, 100, 599);
  return { reference, status, timeout: validateBound('timeout', timeout) };
}

function isMatch({ state, attempts }: EmulatorDelivery, status: number | undefined): boolean {
  if (status === undefined) return state === 'delivered';
  return attempts.some(({ response }) => response?.status === status);
}

function explain(delivery: EmulatorDelivery): string {
  if (delivery.state === 'unsent') return 'it was not sent, because its delivery has times: 0';
  const last = delivery.attempts.at(-1);
  if (last === undefined) return 'the emulator has not sent it yet';
  const result = last.response === undefined ? 'without a reply:' : 'answered';
  return `${countOf(delivery)}, the last ${result} ${resultOf(last)}`;
}
