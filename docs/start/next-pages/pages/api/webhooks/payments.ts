import { paymentWebhookApi } from '@paylink/next/pages';
import { payments } from '../../../payments.ts';

// Without this line Next.js parses the body, and the signed bytes are gone.
export const config = { api: { bodyParser: false } };

export default paymentWebhookApi({ secret: process.env.WEBHOOK_SECRET }, payments.receive);
