import { payments } from '../_shared/payments.ts';

const secret = Deno.env.get('CRON_SECRET');

Deno.serve(async (request) => {
  const isSchedule = request.headers.get('authorization') === `Bearer ${secret}`;
  if (!secret || !isSchedule) return new Response(null, { status: 401 });
  const report = await payments.reconcile(undefined, { timeLimit: 50_000 });
  console.log('reconcile', JSON.stringify(report));
  const { credited, errors, notAsked } = report;
  return Response.json(
    { credited: credited.count, errors: errors.count },
    { status: errors.count + notAsked.count > 0 ? 500 : 200 },
  );
});
