import { checkout, payments } from '../_shared/payments.ts';

// A browser requests these before it calls a function on another site.
const headers = {
  'access-control-allow-origin': Deno.env.get('SHOP_URL')!,
  'access-control-allow-headers': 'authorization, x-client-info, apikey, content-type',
};

Deno.serve(async (request) => {
  if (request.method === 'OPTIONS') return new Response(null, { headers });
  if (request.method === 'POST')
    return Response.json(await checkout(15_000), { status: 201, headers });
  const reference = new URL(request.url).searchParams.get('reference') ?? '';
  const { status } = await payments.settle(reference);
  return Response.json({ status }, { headers });
});
