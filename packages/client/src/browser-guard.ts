import { ConfigurationError } from '@paylink/core';

interface Surroundings {
  readonly window?: unknown;
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: unknown; readonly product?: unknown } | undefined;
}

/**
 * Throws in an environment that exposes the API key (docs/service.md 1.6): a browser, a web worker
 * or React Native. Workers of a server runtime have neither a document nor a browser's user agent.
 */
export function refuseBrowser(
  { window, document, navigator }: Surroundings = globalThis as Surroundings,
): void {
  const isBrowser =
    (window !== undefined && document !== undefined) ||
    String(navigator?.userAgent).startsWith('Mozilla/');
  if (!isBrowser && navigator?.product !== 'ReactNative') return;
  throw new ConfigurationError(
    'createClient',
    'runs on a server only: in a browser or an app the API key would be public. Call it ' +
      'from your own backend. In a test under jsdom, set the test environment of this file to node.',
  );
}
