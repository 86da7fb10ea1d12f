import { signedDelivery, testOrders } from 'npm:@paylink/testing';
import { createClient } from 'npm:@supabase/supabase-js@2';
import { createOrder, orders } from './_shared/orders.ts';

const url = Deno.env.get('SUPABASE_URL')!;
const webhook = `${url}/functions/v1/payments`;

Deno.test('a forged notification is refused', async () => {
  const forged = signedDelivery({ reference: 'order-1', secret: 'not the secret' });
  const { status } = await forged.send(webhook);
  if (status !== 401) throw new Error(`answered ${status}`);
});

const references: string[] = [];

testOrders({
  orders,
  test: (name, run) => Deno.test({ name, fn: run, sanitizeOps: false, sanitizeResources: false }),
  createOrder(order) {
    references.push(order.reference);
    return createOrder(order);
  },
});

// Removes the test's orders from your database.
Deno.test.afterAll(async () => {
  const supabase = createClient(url, Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')!);
  for (const reference of references)
    await supabase.from('orders').delete().eq('reference', reference).throwOnError();
});
