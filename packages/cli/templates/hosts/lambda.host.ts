import type { SignedDelivery } from '@paylink/testing';
import { webhook } from './payment-webhook';

export async function startHost() {
  return {
    deliver: async ({ headers, rawBody }: SignedDelivery) => {
      const request = { httpMethod: 'POST', headers, body: rawBody.toString('base64') };
      return (await webhook({ ...request, isBase64Encoded: true })).statusCode;
    },
    close: () => undefined,
  };
}
