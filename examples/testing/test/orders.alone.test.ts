import { memoryOrders } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { describe, test } from 'vitest';

describe('orders', () => {
  const { orders, add } = memoryOrders(); // in your app: your own orders, on your test database
  testOrders({
    orders,
    test,
    createOrder: ({ reference, amount, currency }) => add({ reference, amount, currency }),
  });
});
