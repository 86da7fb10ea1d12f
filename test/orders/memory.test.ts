import { memoryOrders } from '@paylink/payments';
import { expect, it, vi } from 'vitest';
import { faultsOf } from './faults.js';

vi.spyOn(console, 'warn').mockReturnValue(undefined);

it.each([
  ['one merchant', undefined],
  ['two merchants', ['a', 'b']],
] as const)('memoryOrders of %s have no fault', async (_, tenants) => {
  const { orders, add } = memoryOrders();
  expect(await faultsOf({ orders, createOrder: add, tenants })).toEqual([]);
});
