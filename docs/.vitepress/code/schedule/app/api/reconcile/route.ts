import { payments } from '../../../payments.ts';
import { reconcile } from '../../../reconcile.ts';

export const maxDuration = 60;

export async function GET(request: Request): Promise<Response> {
  const { CRON_SECRET } = process.env;
  const isVercel = request.headers.get('authorization') === `Bearer ${CRON_SECRET}`;
  if (!CRON_SECRET || !isVercel) return new Response(null, { status: 401 });
  await reconcile(payments, 50_000);
  return Response.json({ done: true });
}
