import { isLoopbackHost } from './loopback.js';

/** Whether a request asked for this machine by a name of this machine: else a foreign name was bent here (DNS rebinding). */
export function asksForLoopback(request: Request): boolean {
  const host = hostOf(request);
  return host !== undefined && isLoopbackHost(host.hostname);
}

/**
 * Whether a form was sent from our own page. A browser always says where a form comes from; a program that says nothing has
 * no customer's session to abuse.
 */
export function isFromOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') return false;
  const origin = request.headers.get('origin');
  return origin === null || origin === hostOf(request)?.origin;
}

function hostOf(request: Request): URL | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const text = `http://${host}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}
