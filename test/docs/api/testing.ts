import test from 'node:test';
import { attacks, signedDelivery, TEST_SECRET, testOrders } from '@paylink/testing';
import { createOrder, orders } from './shop.js';

const url = 'http://localhost:3000/webhooks/payments';

// #region signedDelivery
const delivery = signedDelivery({ reference: 'order-42' });
const response = await delivery.send(url);
console.log(response.status);
// #endregion

// #region TEST_SECRET
process.env['WEBHOOK_SECRET'] = TEST_SECRET; // the default of signedDelivery and attacks
// #endregion

// #region attacks
for (const attack of attacks({ secret: TEST_SECRET }))
  void test(attack.name, async () => {
    const { status } = await attack.delivery.send(url);
    if (status !== attack.status) throw new Error(`answered ${status}`);
  });
// #endregion

// #region testOrders
testOrders({ orders, test, createOrder });
// #endregion
