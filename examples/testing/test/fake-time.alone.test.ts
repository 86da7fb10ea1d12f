import { paymentWebhook } from '@paylink/fetch';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.useRealTimers());

test('a handler that hangs is answered 503, and its signal is aborted', async () => {
  vi.useFakeTimers();
  let seen: AbortSignal | undefined;
  let begin!: () => void;
  const began = new Promise<void>((resolve) => (begin = resolve));
  const receive = paymentWebhook({ secret: TEST_SECRET }, async (_event, { signal }) => {
    seen = signal;
    begin();
    await new Promise(() => undefined);
  });
  const response = receive(signedDelivery().toRequest('http://localhost/'));
  await began;
  await vi.advanceTimersByTimeAsync(25_000);
  expect((await response).status).toBe(503);
  expect(seen?.aborted).toBe(true);
});
