import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from './orders';

interface Env {
  readonly WEBHOOK_SECRET: string;
}

// A Worker has its secret only in a request's `env`; `tenant: false` says that it is the same for all of them.
const handle = paymentWebhook({ secret: ({ env }: { env: Env }) => env.WEBHOOK_SECRET, tenant: false, ...options }, handlers);

export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    return pathname === '/webhooks/payments' ? handle(request, { env }) : new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
