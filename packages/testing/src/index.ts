export {
  signedDelivery,
  TEST_SECRET,
  type InjectOptions,
  type SignedDelivery,
  type SignedDeliveryOptions,
} from './signed-delivery.js';
