import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPayments, type Orders } from '@paylink/payments';
import { expect, it } from 'vitest';

// `pnpm lab full-size` reads a million. This run scales the bound of 50 MB.
const REFERENCES = Number(process.env['PAYLINK_REFERENCES'] ?? 200_000);
const MOST_BYTES = 50 * REFERENCES;

it(
  `reconcile grows the heap by at most 50 MB for a million references (here ${REFERENCES})`,
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
    function* references() {
      for (let index = 0; index < REFERENCES; index++) {
        if (index % (REFERENCES / 10) === 0) {
          collect();
          most = Math.max(most, process.memoryUsage().heapUsed - before);
        }
        yield `3f2504e0-4f89-41d3-9a0c-${String(index).padStart(12, '0')}`;
      }
    }
    // The first half is kept for the end, because a generator can be read once.
    const cursor = `${REFERENCES / 2}:none`;
    const report = await payments.reconcile(references(), { cursor, concurrency: 4 });
    expect(report.total).toBe(REFERENCES);
    expect(report.paid.count).toBe(REFERENCES);
    expect(most).toBeLessThan(MOST_BYTES);
  },
);
