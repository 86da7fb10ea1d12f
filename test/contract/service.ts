import { startEmulator, type Emulator } from '@paylink/emulator';

/** The service that the suite holds to its contract. */
export interface Service {
  /** {base_url} of docs/service.md 1.3: the version segment comes after it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/** The real service, where the environment names one. */
const REAL = readEnvironment();

/**
 * Whether the suite talks to a service of another operator: there nothing is paid, and no webhook
 * URL can be set.
 */
export const isReal = REAL !== undefined;

/** Gives the service that the environment names, else a new emulator. */
export async function openService(): Promise<Service> {
  if (REAL !== undefined) return { ...REAL, close: async () => undefined };
  return startEmulator();
}

/**
 * For what only an emulator can be asked: to pay, and to send notifications to an address of ours.
 */
export async function openEmulator(webhookUrl?: string): Promise<Emulator> {
  return startEmulator(webhookUrl === undefined ? {} : { webhook: { url: webhookUrl } });
}

/** Tells, where everybody sees it, which part is not proven of a real service. */
export function announceLeftOut(what: string): void {
  if (isReal) console.warn(`[contract] NOT RUN against a real service: ${what}`);
}

function readEnvironment(): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  const { PAYLINK_BASE_URL: baseUrl, PAYLINK_API_KEY: apiKey } = process.env;
  if (baseUrl === undefined || baseUrl === '') return undefined;
  // A shell that is set up for the real service must not make every run of all tests create links
  // there.
  if (process.env['npm_lifecycle_event'] === 'test') {
    console.warn(
      '[contract] PAYLINK_BASE_URL is not looked at by the run of all tests. For the real service: npm test -- test/contract',
    );
    return undefined;
  }
  if (apiKey === undefined || apiKey === '')
    throw new Error('PAYLINK_BASE_URL is set, and PAYLINK_API_KEY is not');
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined) throw new Error('PAYLINK_BASE_URL is no URL');
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
