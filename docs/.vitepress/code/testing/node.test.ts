import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deliver, emulator, order } from './shop.ts';

after(() => emulator.close());

test('credits only a paid order', async () => {
  await order('order-1');
  assert.equal(await deliver('order-1'), 503); // The payment is pending.
  await emulator.pay('order-1');
  assert.equal(await deliver('order-1'), 200);
  assert.equal(await deliver('order-1'), 200); // A duplicate.
});
