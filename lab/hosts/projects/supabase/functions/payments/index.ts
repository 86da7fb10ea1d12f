import { paymentWebhook } from 'npm:@paylink/fetch';
import { handlers, options } from '../orders.ts';

const secret = Deno.env.get('WEBHOOK_SECRET');
Deno.serve(paymentWebhook({ secret, ...options }, handlers));
