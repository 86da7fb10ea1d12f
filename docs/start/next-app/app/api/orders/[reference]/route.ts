import { payments } from '../../../../payments.ts';

export async function GET(
  _request: Request,
  { params }: { params: Promise<{ reference: string }> },
): Promise<Response> {
  const { reference } = await params;
  const { status } = await payments.settle(reference);
  return Response.json({ status });
}
