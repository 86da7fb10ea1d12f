import { paymentWebhook } from '@paylink/fetch';
import { options, payments } from '../orders';
import type { Route } from './+types/webhooks.payments';

const handle = paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments);

export const action = ({ request }: Route.ActionArgs) => handle(request);
