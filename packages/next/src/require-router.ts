import { ConfigurationError } from '@paylink/core';

/** @throws ConfigurationError with the right import, where the other router of Next.js has called. */
export function requireRouter(router: 'app' | 'pages', request: { readonly headers?: object | undefined }): void {
  const called = typeof (request.headers as Partial<Headers> | undefined)?.get === 'function' ? 'app' : 'pages';
  if (called === router) return;
  if (router === 'app') {
    const fix = "import { paymentWebhookApi } from '@paylink/next/pages'; export default paymentWebhookApi(…)";
    throw new ConfigurationError('paymentWebhook', `is for the App Router, and this is an API route of the Pages Router: ${fix}`);
  }
  const fix = "import { paymentWebhook } from '@paylink/next'; export const POST = paymentWebhook(…)";
  throw new ConfigurationError('paymentWebhookApi', `is for the Pages Router, and this is a route of the App Router: ${fix}`);
}
