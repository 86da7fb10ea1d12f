import type { SignedDelivery } from '@paylink/testing';
import { paymentRoutes } from './payment-webhook';

export async function startHost() {
  const url = 'http://localhost/webhooks/payments';
  return {
    deliver: async (delivery: SignedDelivery) =>
      (await paymentRoutes.request(delivery.toRequest(url))).status,
    close: () => undefined,
  };
}
