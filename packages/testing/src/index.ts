export { attacks } from './attacks/index.js';
export type { Attack } from './attacks/attack.js';
export { testOrders } from './orders/index.js';
export type { TestOrdersOptions } from './orders/options.js';
export {
  signedDelivery,
  TEST_SECRET,
  type SignedDelivery,
  type SignedDeliveryOptions,
} from './signed-delivery.js';
