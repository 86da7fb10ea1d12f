import { afterAll, expect, test } from 'vitest';
import { deliver, emulator, order, payments } from './shop.ts';

afterAll(() => emulator.close());

test('credits only a paid order', async () => {
  await order('order-1');
  expect(await deliver('order-1')).toBe(503); // The payment is pending.
  await emulator.pay('order-1');
  expect(await deliver('order-1')).toBe(200);
  expect(await deliver('order-1')).toBe(200); // A duplicate.
  expect((await payments.settle('order-1')).status).toBe('paid');
});
