import { paymentWebhook } from '@paylink/lambda';
import { payments } from './payments';

const secret = process.env['WEBHOOK_SECRET'];

export const webhook = paymentWebhook({ secret }, payments.receive);

// The page that the customer returns to. First check that the order belongs to this customer.
export async function returnPage(event: { pathParameters?: { reference?: string } }) {
  const { status } = await payments.settle(event.pathParameters?.reference ?? '');
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status }),
  };
}
