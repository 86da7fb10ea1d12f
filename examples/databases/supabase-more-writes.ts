import type { Order, Orders } from '@paylink/payments';
import { createClient } from '@supabase/supabase-js';

// The secret key (role service_role) passes row level security: the server alone may have it.
const { SUPABASE_URL = '', SUPABASE_SECRET_KEY = '' } = process.env;
export const supabase = createClient(SUPABASE_URL, SUPABASE_SECRET_KEY);
const COLUMNS = 'reference, amount, currency, paid_at';

export const orders: Orders = {
  async find(reference) {
    const select = supabase.from('orders').select(COLUMNS).eq('reference', reference);
    const order = select.maybeSingle<Order & { paid_at: string | null }>().throwOnError();
    const { data } = await order;
    return data && { ...data, paid: data.paid_at !== null };
  },
  async credit({ reference, amount, currency }) {
    // A function of your database, because two calls of supabase-js are two transactions.
    const payment = { paid_reference: reference, paid_amount: amount, paid_currency: currency };
    const reply: { data: unknown } = await supabase.rpc('credit_order', payment).throwOnError();
    return Number(reply.data);
  },
};

/** Nothing stays open. */
export const close = (): void => undefined;
