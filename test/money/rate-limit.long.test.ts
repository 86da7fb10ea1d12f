import { createClient } from '@paylink/client';
import { createPayments, memoryOrders } from '@paylink/payments';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from './service.js';

// 600 in `pnpm lab full-size`.
const ORDERS = Number(process.env['PAYLINK_NOTIFICATIONS'] ?? 300);
const A_SECOND = 20;

describe(
  `${ORDERS} notifications, of a service that answers 20 questions a second`,
  { tags: 'P11' },
  () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let windowEnd = 0;
    let left = 0;

    beforeAll(async () => {
      service = await startService(() => {
        const now = performance.now();
        if (now >= windowEnd) [windowEnd, left] = [now + 1_000, A_SECOND];
        return left-- > 0 ? undefined : Math.ceil((windowEnd - now) / 1_000);
      });
    });
    afterAll(() => service.close());

    it('are all credited, with at most 1.5 questions each', { timeout: 180_000 }, async () => {
      const { orders, add } = memoryOrders();
      const references = Array.from({ length: ORDERS }, (_, index) => `order-${index}`);
      for (const reference of references) add({ reference, amount: 1_000, currency: 'XOF' });
      const client = createClient({ baseUrl: service.baseUrl, apiKey: 'sk_live_test.secret-part' });
      const payments = createPayments({ client, orders });
      const deliver = async (reference: string): Promise<void> => {
        for (;;) {
          try {
            await payments.receive({ type: 'payment.succeeded', reference, tenant: null });
            return;
          } catch (error) {
            // The service sends again after the Retry-After of the reply.
            const { retryAfter = 5_000 } = error as { readonly retryAfter?: number };
            const seconds = Math.max(1, Math.ceil(retryAfter / 1_000));
            await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
          }
        }
      };
      const started = performance.now();
      await Promise.all(references.map(deliver));
      expect(performance.now() - started).toBeLessThan(120_000);
      expect(orders.unpaid({ tenant: null, signal: new AbortController().signal })).toEqual([]);
      expect(service.asked.length).toBeLessThanOrEqual(1.5 * ORDERS);
    });
  },
);
