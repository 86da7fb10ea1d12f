import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from '../../../orders.js';
import type { RequestHandler } from './$types';

// `vite build` loads this file, perhaps without the secret.
const secret = () => ({ secret: process.env.WEBHOOK_SECRET, tenant: null });
const handle = paymentWebhook({ secret, ...options }, handlers);

export const POST: RequestHandler = (event) => handle(event.request);
