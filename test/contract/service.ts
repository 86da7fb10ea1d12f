import { startEmulator, type Emulator } from '@paylink/emulator';

/** The service under test. */
export interface Service {
  /** {base_url} of docs/service.md 1.3, without the version segment. */
  readonly baseUrl: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/** The real service, if the environment names one. */
const REAL = readEnvironment();

/** Set for another operator's service, on which the suite cannot pay or set a webhook URL. */
export const isReal = REAL !== undefined;

/** Returns the service in the environment, otherwise a new emulator. */
export async function openService(): Promise<Service> {
  if (REAL !== undefined) return { ...REAL, close: async () => undefined };
  return startEmulator();
}

/**
 * Opens an emulator for actions that a real service does not allow: paying, and notifying a chosen
 * address.
 */
export async function openEmulator(webhookUrl?: string): Promise<Emulator> {
  return startEmulator(webhookUrl === undefined ? {} : { webhook: { url: webhookUrl } });
}

/** Announces an untested part of a real service. */
export function announceLeftOut(what: string): void {
  if (isReal) console.warn(`[contract] NOT RUN against a real service: ${what}`);
}

function readEnvironment(): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  const { PAYLINK_BASE_URL: baseUrl, PAYLINK_API_KEY: apiKey } = process.env;
  if (baseUrl === undefined || baseUrl === '') return undefined;
  // A shell with the real service's settings must not make every test run create links there.
  if (process.env['npm_lifecycle_event'] === 'test') {
    console.warn(
      '[contract] npm test ignores PAYLINK_BASE_URL. For the real service: npx vitest run test/contract',
    );
    return undefined;
  }
  if (apiKey === undefined || apiKey === '')
    throw new Error('PAYLINK_BASE_URL is set, and PAYLINK_API_KEY is not');
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined) throw new Error('PAYLINK_BASE_URL is not a URL');
  if (url.protocol !== 'https:' && !isLoopback(url)) {
    throw new Error('PAYLINK_BASE_URL must be https: the API key goes there');
  }
  const trimmed = baseUrl.replace(/\/+$/, '');
  console.warn(
    `[contract] runs against ${trimmed}: creates links of small amounts there, and pays none`,
  );
  return { baseUrl: trimmed, apiKey };
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}
