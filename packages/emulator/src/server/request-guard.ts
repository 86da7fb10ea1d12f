import { isIP } from 'node:net';
import { isLoopbackHost } from './loopback.js';

/** Another name in the Host header may mean DNS rebinding. */
export function asksForLoopback(request: Request): boolean {
  const host = hostOf(request);
  return host !== undefined && isLoopbackHost(host.hostname);
}

/**
 * Browsers compare the origins themselves, also behind a TLS proxy, and old browsers send the
 * form's origin. A program without an origin has no customer's session to abuse.
 */
export function isFromOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = request.headers.get('origin');
  return origin === null || origin === hostOf(request)?.origin;
}

/** Allows other machines: an address cannot be rebound, and the configured names are expected. */
export function asksForAddressOr(configured: readonly string[], request: Request): boolean {
  const hostname = hostOf(request)?.hostname;
  if (hostname === undefined) return false;
  return (
    isLoopbackHost(hostname) ||
    isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 ||
    configured.some((name) => name.toLowerCase() === hostname)
  );
}

function hostOf(request: Request): URL | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const text = `http://${host}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}
