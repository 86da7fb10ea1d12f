/** A Worker that runs the recipes for D1, as the test asks. */
import { env } from 'cloudflare:workers';
import { orders as moreWrites } from '../d1-more-writes.js';
import { orders } from '../d1.js';

type Payment = Parameters<typeof orders.credit>[0];

/** A call of the test: a function of a recipe, or a statement of the merchant. */
export type Call =
  | { readonly name: 'find'; readonly reference: string }
  | { readonly name: 'credit' | 'credit with more writes'; readonly payment: Payment }
  | { readonly name: 'first'; readonly sql: string; readonly values: readonly unknown[] }
  | { readonly name: 'paid' | 'unpaid' }
  | { readonly name: 'sql'; readonly sql: string; readonly values: readonly unknown[] };

async function run(call: Call): Promise<unknown> {
  const context = { tenant: null, signal: new AbortController().signal };
  switch (call.name) {
    case 'find':
      return orders.find(call.reference, context);
    case 'credit':
      return orders.credit(call.payment, { ...context, source: 'webhook' });
    case 'credit with more writes':
      return moreWrites.credit(call.payment, { ...context, source: 'webhook' });
    case 'paid':
    case 'unpaid':
      return orders[call.name]!(context);
    case 'first':
      return env.DB.prepare(call.sql)
        .bind(...call.values)
        .first();
    case 'sql':
      return (
        await env.DB.prepare(call.sql)
          .bind(...call.values)
          .run()
      ).meta.changes;
  }
}

export default {
  async fetch(request: Request): Promise<Response> {
    try {
      return Response.json({ value: await run((await request.json()) as Call) });
    } catch (error) {
      return Response.json({ message: (error as Error).message }, { status: 500 });
    }
  },
};
