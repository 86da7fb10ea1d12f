import type { Sign } from '../attacks/attack.js';
import type { HeaderNameOptions } from '../delivery-forms.js';
import { requireSecret } from '../signed-delivery.js';
import type { AuditResult } from './result.js';

export interface AuditOptions {
  /** The address of the receiver, `http:` or `https:`. */
  readonly url: string | URL;
  /** The receiver's webhook secret. A string is used as UTF-8. */
  readonly secret: string | Uint8Array;
  /**
   * The order of the genuine deliveries. **They reach the merchant's code** a few hundred times, so
   * name an order of your tests that may be credited. A list names further such orders, each
   * credited once. If the receiver looks up orders, `credits` needs four of them. Default
   * `paylink-audit`, which a receiver that looks up orders may refuse.
   */
  readonly reference?: string | readonly string[] | undefined;
  /**
   * Returns an order's number of credits in the merchant's books. The audit then judges duplicates,
   * replays, unknown orders, unpaid events and a lost reply. Without this option, the report lists
   * them as not judged.
   */
  readonly credits?: ((reference: string) => Promise<number> | number) | undefined;
  /**
   * Milliseconds in which a credit may follow its acknowledgement, for `credits`. Choose more than
   * the receiver's queue takes. The audit waits the whole time for a delivery that must not be
   * credited. Default 600.
   */
  readonly settle?: number | undefined;
  /** The receiver's body limit in bytes. By default, the audit does not test the exact limit. */
  readonly bodyLimit?: number | undefined;
  /** Other names of the two headers, as in the receiver's option. */
  readonly headers?: HeaderNameOptions | undefined;
  /**
   * Returns the value of the signature header, for a receiver of another service. Turns spelling
   * attacks off.
   */
  readonly sign?: Sign | undefined;
  /**
   * Further headers of every request, for a tunnel or a gateway. A `Host` replaces the host of
   * `url`.
   */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds for the answer to a slow body. Choose more than the receiver's own limit. The
   * audit waits 5,000 for other answers, or longer if genuine deliveries are slow. Default 15,000.
   */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds for the connection and the first answer. Without an answer, the audit stops.
   * Default 1,500.
   */
  readonly firstAnswer?: number | undefined;
  /** The number of concurrent attacks, 1 to 32. Default 4. */
  readonly concurrency?: number | undefined;
  /** Rejects the audit with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the audit early with an incomplete report. */
  readonly stop?: AbortSignal | undefined;
  /** Called with each result as it arrives. */
  readonly onResult?: ((result: AuditResult) => void) | undefined;
  /** Called after each result. `total` grows if the audit can judge more. */
  readonly onProgress?:
    | ((progress: { readonly done: number; readonly total: number; readonly name: string }) => void)
    | undefined;
}

export interface AuditSettings extends AuditOptions {
  readonly url: URL;
  readonly reference: string;
  readonly moreReferences: readonly string[];
  readonly timeout: number;
  readonly firstAnswer: number;
  readonly settle: number;
  readonly concurrency: number;
}

/** Enough for a receiver that credits shortly after its reply. */
export const SETTLE = 600;

/** The names of all options. The type keeps the list complete. */
const OPTIONS: { readonly [Name in keyof AuditOptions]-?: true } = {
  url: true,
  secret: true,
  reference: true,
  credits: true,
  settle: true,
  bodyLimit: true,
  headers: true,
  sign: true,
  requestHeaders: true,
  timeout: true,
  firstAnswer: true,
  concurrency: true,
  signal: true,
  stop: true,
  onResult: true,
  onProgress: true,
};

/** @throws TypeError for a wrong option */
export function createSettings(options: AuditOptions): AuditSettings {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue;
    throw new TypeError(
      `${name} is an unknown option. Valid options: ${Object.keys(OPTIONS).join(', ')}`,
    );
  }
  const {
    secret,
    timeout = 15_000,
    firstAnswer = 1_500,
    settle = SETTLE,
    concurrency = 4,
  } = options;
  const [reference = 'paylink-audit', ...moreReferences] = [options.reference ?? []].flat();
  const url = parseUrl(options.url);
  if (typeof secret !== 'string' && !ArrayBuffer.isView(secret))
    throw new TypeError('secret must be a string or a Uint8Array');
  requireSecret(secret);
  for (const [name, value] of Object.entries({ timeout, firstAnswer, settle })) {
    if (!(Number.isFinite(value) && value >= 1))
      throw new TypeError(`${name} must be a number of milliseconds, at least 1`);
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 32)) {
    throw new TypeError('concurrency must be a whole number from 1 to 32');
  }
  if (options.credits !== undefined && typeof options.credits !== 'function') {
    throw new TypeError('credits must be a function that returns a number');
  }
  if (Object.keys(options.headers ?? {}).some((name) => name !== 'signature' && name !== 'event')) {
    throw new TypeError(
      'headers must be { signature, event }, the names of the two headers: use ' +
        'requestHeaders for other headers',
    );
  }
  for (const [name, value] of Object.entries(options.requestHeaders ?? {})) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new TypeError('requestHeaders must hold valid header names and values');
    }
  }
  return { ...options, url, reference, moreReferences, timeout, firstAnswer, settle, concurrency };
}

function parseUrl(value: string | URL): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('url must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('url must not hold a password: set Authorization in requestHeaders');
  return url;
}
