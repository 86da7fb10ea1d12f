import { isIP } from 'node:net';
import { isLoopbackHost } from './loopback.js';

/**
 * Whether the Host header names this machine. Any other name that leads here may be DNS rebinding.
 */
export function asksForLoopback(request: Request): boolean {
  const host = hostOf(request);
  return host !== undefined && isLoopbackHost(host.hostname);
}

/**
 * Whether a form was sent from our own page. A browser always states the origin of a form. A
 * program without an origin has no customer's session to abuse.
 */
export function isFromOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return false;
  const origin = request.headers.get('origin');
  return origin === null || origin === hostOf(request)?.origin;
}

/**
 * The same if other machines may ask: an address cannot be rebound, and the configured names are
 * expected.
 */
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
