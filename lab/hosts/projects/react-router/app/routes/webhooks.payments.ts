import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from '../orders';
import type { Route } from './+types/webhooks.payments';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);

export const action = ({ request }: Route.ActionArgs) => handle(request);
