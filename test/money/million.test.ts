import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPayments, type Orders } from '@paylink/payments';
import { expect, it } from 'vitest';

it(
  'reconcile grows the heap by at most 50 MB for a million references',
  { timeout: 600_000 },
  async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const row = { amount: 1, currency: 'XOF', paid: true };
    const orders: Orders = { find: (reference) => ({ ...row, reference }), credit: () => 0 };
    const payments = createPayments({
      client: { getPayment: () => Promise.reject(new Error('not asked')) },
      orders,
    });
    let most = 0;
    collect();
    const before = process.memoryUsage().heapUsed;
    function* million() {
      for (let index = 0; index < 1_000_000; index++) {
        if (index % 100_000 === 99_999) {
          collect();
          most = Math.max(most, process.memoryUsage().heapUsed - before);
        }
        yield `3f2504e0-4f89-41d3-9a0c-${String(index).padStart(12, '0')}`;
      }
    }
    // The first half is kept for the end, because a generator can be read once.
    const cursor = '500000:none';
    const report = await payments.reconcile(million(), { cursor, concurrency: 4 });
    expect(report.total).toBe(1_000_000);
    expect(report.paid.count).toBe(1_000_000);
    expect(most / 1e6).toBeLessThan(50);
  },
);
