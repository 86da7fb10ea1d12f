/** A merchant of the tests: a service that knows payments, and orders in memory. */
import { vi } from 'vitest';
import { createPayments, memoryOrders, type Orders, type PaymentsOptions } from '../src/index.js';

export const REFERENCE = 'order-1';

/** The notification of a success, as a receiver has verified it. */
export function succeeded(reference = REFERENCE, tenant: string | null = null) {
  return { type: 'payment.succeeded', reference, tenant };
}

type Answer = Readonly<Record<string, unknown>> | Error | undefined;

/** A client whose service gives this answer to each question, or what a function answers. */
export function service(answer: Answer | ((reference: string, tenant: unknown) => unknown) = {}) {
  return {
    getPayment: vi.fn(
      async (reference: string, { tenant }: { signal: AbortSignal; tenant: unknown }) => {
        const given = typeof answer === 'function' ? await answer(reference, tenant) : answer;
        if (given instanceof Error) throw given;
        if (given === undefined || given === null) return given as never;
        return { reference, status: 'success', amount: 1_000, currency: 'XOF', ...given };
      },
    ),
  };
}

/** An error of a client, with its own fields. */
export function refusalOf(status: number, retryAfter?: number): Error {
  return Object.assign(new Error(`got ${status}`), { status, retryAfter });
}

export function log() {
  return { warn: vi.fn(), error: vi.fn() };
}

export interface ShopOptions extends Partial<Omit<PaymentsOptions, 'orders' | 'client'>> {
  readonly answer?: Parameters<typeof service>[0];
  readonly orders?: Partial<Orders>;
  readonly amount?: Parameters<ReturnType<typeof memoryOrders>['add']>[0]['amount'];
  readonly closed?: boolean;
}

/** A shop with one unpaid order of 1,000 XOF. */
export function openShop({ answer, orders, amount = 1_000, closed, ...options }: ShopOptions = {}) {
  const memory = memoryOrders();
  memory.add({ reference: REFERENCE, amount, currency: 'XOF', closed });
  const find = vi.fn(orders?.find ?? memory.orders.find);
  const credit = vi.fn(orders?.credit ?? memory.orders.credit);
  const client = service(answer);
  const logger = log();
  const payments = createPayments({
    client,
    logger,
    ...options,
    orders: { ...memory.orders, ...orders, find, credit },
  });
  const isPaid = async (reference = REFERENCE): Promise<boolean | undefined> => {
    const signal = new AbortController().signal;
    return (await memory.orders.find(reference, { tenant: null, signal }))?.paid;
  };
  return { payments, memory, client, logger, find, credit, isPaid };
}

/** A shop with the orders `order-1` to `order-<count>`. */
export function openMany(count: number, answer: ShopOptions['answer'], options: ShopOptions = {}) {
  const shop = openShop({ answer, ...options });
  for (let index = 2; index <= count; index++) {
    shop.memory.add({ reference: `order-${index}`, amount: 1_000, currency: 'XOF' });
  }
  const asked = () => shop.client.getPayment.mock.calls.map(([reference]) => reference);
  return { ...shop, asked };
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
export async function failure(
  running: Promise<unknown>,
): Promise<Error & { code?: string; status?: number; retryAfter?: number }> {
  try {
    await running;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was expected to reject');
}
