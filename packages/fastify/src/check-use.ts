import { ConfigurationError, type Logger } from '@paylink/core';

const REGISTER = "app.register(paymentWebhook({ url: '/webhooks/payments', secret }, handlers))";

/** What `app.register(paymentWebhook, …)` gets: Fastify catches no throw of a plugin, and takes a rejection. */
export function notAPlugin(): Promise<never> {
  return Promise.reject(new ConfigurationError('paymentWebhook', `makes the plugin and is not one: ${REGISTER}`));
}

/** @throws ConfigurationError that says which line to write. */
export function checkUrl(options: unknown): void {
  const { url, path } = Object(options) as { readonly url?: unknown; readonly path?: unknown };
  if (typeof url === 'string') return;
  if (path !== undefined) throw new ConfigurationError('path', `is called \`url\` here: ${REGISTER}`);
  throw new ConfigurationError('url', `is missing: it is the path of the route that the plugin makes: ${REGISTER}`);
}

/** @throws ConfigurationError where Fastify calls the plugin as a handler. */
export function checkInstance({ addContentTypeParser }: { readonly addContentTypeParser?: unknown }): void {
  if (typeof addContentTypeParser === 'function') return;
  throw new ConfigurationError('paymentWebhook', `is a plugin with a route of its own, not a handler: ${REGISTER}`);
}

/** The merchant's logger without its output. What is no function in it stays none, so that it is refused. */
export function muted(logger: unknown = console): Logger {
  const { warn, error } = Object(logger) as Partial<Logger>;
  const mute = (log: unknown): unknown => (typeof log === 'function' ? () => undefined : log);
  return { warn: mute(warn), error: mute(error) } as Logger;
}
