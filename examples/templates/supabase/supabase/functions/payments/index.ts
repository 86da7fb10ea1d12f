import { paymentWebhook } from 'npm:@paylink/fetch';
import { payments } from '../_shared/payments.ts';

Deno.serve(paymentWebhook({ secret: Deno.env.get('WEBHOOK_SECRET') }, payments.receive));
