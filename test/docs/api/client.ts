import { createClient, isPaylinkError, PaylinkError } from '@paylink/client';

// #region createClient
const client = createClient({
  baseUrl: process.env['PAYLINK_BASE_URL'],
  apiKey: process.env['PAYLINK_API_KEY'],
});
const link = await client.createPaymentLink(
  { amount: 15_000, reference: 'order-42', single_use: true },
  { idempotencyKey: 'order-42' },
);
console.log(link.url);
// #endregion

// #region isPaylinkError
try {
  await client.getPayment('order-42');
} catch (error) {
  if (isPaylinkError(error) && error.code === 'not_found') console.log('no link was created');
  else throw error;
}
// #endregion

// #region PaylinkError
export const isLimited = (error: unknown): boolean =>
  error instanceof PaylinkError && error.status === 429;
// #endregion
