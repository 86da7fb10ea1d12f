import { ConfigurationError } from '@paylink/core';

const REGISTER = "app.register(paymentWebhook({ url: '/webhooks/payments', secret }, handlers))";

/** What `app.register(paymentWebhook, …)` gets: Fastify catches no throw of a plugin, and takes a rejection. */
export function notAPlugin(): Promise<never> {
  return Promise.reject(new ConfigurationError('paymentWebhook', `makes the plugin and is not one: ${REGISTER}`));
}

/** @throws ConfigurationError that says which line to write. */
export function checkUrl({ url, path }: { readonly url?: unknown; readonly path?: unknown }): void {
  if (typeof url === 'string') return;
  if (path !== undefined) throw new ConfigurationError('path', `is called \`url\` here: ${REGISTER}`);
  throw new ConfigurationError('url', `is missing: it is the path of the route that the plugin makes: ${REGISTER}`);
}

/** @throws ConfigurationError where Fastify calls the plugin as a handler. */
export function checkInstance({ addContentTypeParser }: { readonly addContentTypeParser?: unknown }): void {
  if (typeof addContentTypeParser === 'function') return;
  throw new ConfigurationError('paymentWebhook', `is a plugin with a route of its own, not a handler: ${REGISTER}`);
}
