/** A merchant of the tests: a service that knows payments, and orders in memory. */
import { vi } from 'vitest';
import type { AskOptions, ServicePayment } from '../src/ask.js';
import type { AnyEvent } from '../src/index.js';

export const quiet = { warn: () => undefined, error: () => undefined };

export interface Payment extends ServicePayment {
  readonly amount: number;
  readonly currency: string;
}

/** The notification of a success, as a receiver has verified it. */
export function succeeded(reference = 'order-1', more: object = {}): AnyEvent {
  const rawBody = new TextEncoder().encode(JSON.stringify({ reference }));
  const event = { type: 'payment.succeeded', reference, payload: { reference }, rawBody };
  return { ...event, secretIndex: 0, ...more };
}

type Answer = Partial<Record<keyof Payment, unknown>> | Error;

/** A client whose service gives this answer to each question, or what a function answers. */
export function service(
  answer: Answer | ((reference: string, options: AskOptions) => unknown) = {},
) {
  return {
    getPayment: vi.fn(async (reference: string, options: AskOptions): Promise<Payment> => {
      const given = typeof answer === 'function' ? await answer(reference, options) : answer;
      if (given instanceof Error) throw given;
      if (given === undefined || given === null) return given as never;
      return { reference, status: 'success', amount: 15_000, currency: 'XOF', ...given };
    }),
  };
}

/** A promise that the test settles. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((pass, fail) => {
    resolve = pass;
    reject = fail;
  });
  return { promise, resolve, reject };
}

export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The rejection of a promise. */
export async function failure(running: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await running;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was expected to reject');
}
