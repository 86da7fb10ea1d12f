import { ConfigurationError } from '@paylink/core';

const FIXES = {
  app: "is for the App Router. Use: import { paymentWebhookApi } from '@paylink/next/pages'",
  pages: "is for the Pages Router. Use: import { paymentWebhook } from '@paylink/next'",
};

/** @throws ConfigurationError with the right import if the other router of Next.js called */
export function requireRouter(router: 'app' | 'pages', { headers }: { headers?: object }): void {
  const { get }: { get?: unknown } = headers ?? {};
  const isApp = typeof get === 'function';
  if (isApp === (router === 'app')) return;
  const name = router === 'app' ? 'paymentWebhook' : 'paymentWebhookApi';
  throw new ConfigurationError(name, FIXES[router]);
}
