import type { SignedDelivery } from '@paylink/testing';
import { POST } from './payment-webhook';

export async function startHost() {
  const url = 'http://localhost/api/webhooks/payments';
  return {
    deliver: async (delivery: SignedDelivery) => (await POST(delivery.toRequest(url))).status,
    close: () => undefined,
  };
}
