import { checkout } from '../../../payments.ts';

export async function POST(): Promise<Response> {
  return Response.json(await checkout(15_000), { status: 201 });
}
