import type { EmulatorDelivery } from '@paylink/emulator';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchDeliveries, type DeliveryAttempt } from '../src/emulate/delivery-log.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function attempt(number: number, startedAt: number, durationMs: number): DeliveryAttempt {
  return {
    number,
    startedAt: new Date(startedAt),
    durationMs,
    error: 'none',
  } as unknown as DeliveryAttempt;
}

function delivery(id: string, attempts: DeliveryAttempt[]): EmulatorDelivery {
  return { id, event: 'payment.succeeded', reference: id, attempts } as unknown as EmulatorDelivery;
}

it('watchDeliveries reports every attempt once, also if attempts end out of order', () => {
  let deliveries: EmulatorDelivery[] = [];
  const reported: string[] = [];
  const stop = watchDeliveries({ deliveries: () => deliveries }, ({ id }, { number }) =>
    reported.push(`${id}${number}`),
  );
  deliveries = [delivery('a', [attempt(3, 0, 10)]), delivery('b', [attempt(1, 0, 5)])];
  vi.advanceTimersByTime(250);
  expect(reported).toEqual(['b1', 'a3']);
  deliveries = [delivery('a', [attempt(3, 0, 10), attempt(1, 0, 20), attempt(2, 5, 10)])];
  vi.advanceTimersByTime(250);
  deliveries = [delivery('a', [attempt(1, 0, 20), attempt(2, 5, 10), attempt(4, 300, 1)])];
  stop();
  vi.advanceTimersByTime(250);
  expect(reported).toEqual(['b1', 'a3', 'a2', 'a1', 'a4']);
});
