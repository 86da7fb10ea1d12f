import { paymentWebhook } from '@paylink/fetch';
import { handlers, options } from './orders';

interface Env {
  readonly WEBHOOK_SECRET: string;
}

// A Worker finds its secret only in a request's `env`. `tenant: null` means that there is only
// one merchant.
const handle = paymentWebhook(
  {
    secret: ({ env }: { env: Env }) => ({ secret: env.WEBHOOK_SECRET, tenant: null }),
    ...options,
  },
  handlers,
);

export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    return pathname === '/webhooks/payments'
      ? handle(request, { env })
      : new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
