import { payments } from '../../../../lib/payments';

// The page that the customer returns to. First check that the order belongs to this customer.
export async function GET(
  _request: Request,
  { params }: { params: Promise<{ reference: string }> },
): Promise<Response> {
  const { status } = await payments.settle((await params).reference);
  return Response.json({ status });
}
