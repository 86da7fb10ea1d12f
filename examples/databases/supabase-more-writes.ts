import type { Orders } from '@paylink/payments';
import { orders as plain, supabase } from './supabase.js';

export const orders: Orders = {
  ...plain,
  async credit({ reference, amount, currency }) {
    // Calls a database function, because two supabase-js calls are two transactions.
    const payment = { paid_reference: reference, paid_amount: amount, paid_currency: currency };
    const reply: { data: unknown } = await supabase.rpc('credit_order', payment).throwOnError();
    return Number(reply.data);
  },
};

export { close } from './supabase.js';
