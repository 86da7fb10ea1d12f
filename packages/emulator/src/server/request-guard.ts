import { isIP } from 'node:net';
import { isLoopbackHost } from './loopback.js';

/** The name by which a shop in a container calls the emulator on its machine. */
const FROM_CONTAINER = 'host.docker.internal';
/** The paths that require the API key. No other site's page has the key, even after a rebinding. */
const WITH_KEY = /^\/(api|control)\//;

/**
 * Checks the Host header, because another name may mean DNS rebinding. An address cannot be
 * rebound, and the configured names are expected.
 *
 * @param names the configured names if other machines may connect, otherwise undefined
 */
export function isForEmulator(request: Request, names: readonly string[] | undefined): boolean {
  const hostname = hostOf(request)?.hostname;
  if (hostname === undefined) return false;
  if (isLoopbackHost(hostname)) return true;
  if (hostname === FROM_CONTAINER && WITH_KEY.test(new URL(request.url).pathname)) return true;
  if (names === undefined) return false;
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return isAddress || names.some((name) => name.toLowerCase() === hostname);
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

function hostOf(request: Request): URL | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const text = `http://${host}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}
