import { orders } from '../_shared/orders.ts';
import { payments } from '../_shared/payments.ts';

const secret = Deno.env.get('CRON_SECRET');

Deno.serve(async (request) => {
  const isSchedule = request.headers.get('authorization') === `Bearer ${secret}`;
  if (!secret || !isSchedule) return new Response(null, { status: 401 });
  const context = { tenant: null, signal: AbortSignal.timeout(20_000) };
  const unpaid = await Array.fromAsync(await orders.unpaid!(context));
  // A run may not reach every order, so each run starts with a random one.
  unpaid.push(...unpaid.splice(0, Math.floor(Math.random() * unpaid.length)));
  const report = await payments.reconcile(unpaid, { timeLimit: 50_000 });
  console.log('reconcile', JSON.stringify(report));
  const { credited, errors, notAsked } = report;
  return Response.json(
    { credited: credited.count, errors: errors.count },
    { status: errors.count + notAsked.count > 0 ? 500 : 200 },
  );
});
