import { webhook } from './lib/payment-webhook';

// Without this line Next.js parses the body, and the signed bytes are gone.
export const config = { api: { bodyParser: false } };

export default webhook;
