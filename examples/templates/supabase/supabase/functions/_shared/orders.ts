import type { Order, Orders } from 'npm:@paylink/payments';
import { createClient } from 'npm:@supabase/supabase-js@2';

// Supabase sets both for every function. This key bypasses row level security.
const url = Deno.env.get('SUPABASE_URL')!;
const supabase = createClient(url, Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')!);
const table = () => supabase.from('orders');
const COLUMNS = 'reference, amount, currency, paid_at';

type NewOrder = { reference: string; amount: number; currency: string };

export async function createOrder({ reference, amount, currency }: NewOrder): Promise<void> {
  await table().insert({ reference, amount, currency }).throwOnError();
}

export const orders: Orders = {
  async find(reference) {
    const select = table().select(COLUMNS).eq('reference', reference).throwOnError();
    const { data } = await select.maybeSingle<Order & { paid_at: string | null }>();
    return data && { ...data, paid: data.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    const update = table().update({ paid_at: new Date().toISOString() });
    const isDue = update.match({ reference, amount, currency }).is('paid_at', null);
    // Without select, the response does not show whether a row changed.
    const { data } = await isDue.select('reference').throwOnError();
    return data.length;
  },
  unpaid: () => references((rows) => rows.is('paid_at', null)),
  paid: () => references((rows) => rows.not('paid_at', 'is', null)),
};

const since = () => new Date(Date.now() - 30 * 86_400_000).toISOString();
const lastMonth = () => table().select('reference').gt('created_at', since());

async function references(only: (rows: ReturnType<typeof lastMonth>) => typeof rows) {
  const found: string[] = [];
  for (;;) {
    const sorted = only(lastMonth()).order('created_at').order('reference');
    // Reads in pages, because Supabase returns at most 1,000 rows.
    const page = sorted.range(found.length, found.length + 999).throwOnError();
    const { data } = await page.overrideTypes<Order[]>();
    if (!data?.length) return found;
    found.push(...data.map(({ reference }) => reference));
  }
}
