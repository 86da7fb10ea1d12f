import { checkout } from '../../../lib/checkout';

/** Opens the payment page. Take the amount from your products, never from the customer. */
export async function POST(): Promise<Response> {
  const { url } = await checkout(15_000);
  return Response.redirect(url, 303);
}
