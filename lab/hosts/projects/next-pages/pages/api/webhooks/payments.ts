import { paymentWebhookApi } from '@paylink/next/pages';
import { handlers, options } from '../../../lib/orders';

// Without this line, Next.js parses the body, and the signed bytes are lost.
export const config = { api: { bodyParser: false } };

export default paymentWebhookApi({ secret: process.env.WEBHOOK_SECRET, ...options }, handlers);
