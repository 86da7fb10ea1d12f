import { expect, it } from 'vitest';
import { openShop, succeeded } from './shop.js';

it(
  'answers 150,000 deliveries of one order at once',
  { tags: 'Q11', timeout: 60_000 },
  async () => {
    const { payments, credit } = openShop({ timeout: 300_000 });
    const all = Array.from({ length: 150_000 }, () => payments.receive(succeeded()));
    await Promise.all(all);
    expect(credit).toHaveBeenCalledOnce();
  },
);
