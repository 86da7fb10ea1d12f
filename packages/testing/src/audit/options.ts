import type { Sign } from '../attacks/attack.js';
import type { HeaderNameOptions } from '../delivery-forms.js';
import { requireSecret } from '../signed-delivery.js';
import type { AuditResult } from './report.js';

export interface AuditOptions {
  /** The address of the receiver, `http:` or `https:`. */
  readonly url: string | URL;
  /** The receiver's webhook secret. A string is used as UTF-8. */
  readonly secret: string | Uint8Array;
  /**
   * The order of the genuine deliveries. **They reach the merchant's code** a few hundred times:
   * name an order of your tests, which may be credited. A list names further such orders, each
   * credited once: for a receiver that looks orders up, `credits` needs four of them. Default
   * `paylink-audit`, which a receiver that looks orders up may refuse.
   */
  readonly reference?: string | readonly string[] | undefined;
  /**
   * Returns an order's number of credits in the merchant's books. The audit uses it to judge
   * duplicates, replays, unknown orders, unpaid events and a lost reply. Without it, the report
   * lists them as not judged.
   */
  readonly credits?: ((reference: string) => Promise<number> | number) | undefined;
  /**
   * Milliseconds that a credit may follow its acknowledgement, for `credits`. Choose more than the
   * receiver's queue takes. For a delivery that must not be credited, the audit waits the whole
   * time. Default 600.
   */
  readonly settle?: number | undefined;
  /** The receiver's body limit in bytes. Without it, the audit does not test the exact limit. */
  readonly bodyLimit?: number | undefined;
  /** Has no effect. Older calls may still pass it. */
  readonly confirm?: boolean | undefined;
  /** Other names of the two headers, as in the receiver's option. */
  readonly headers?: HeaderNameOptions | undefined;
  /**
   * Returns the signature header for a receiver of another service, and turns spelling attacks off.
   */
  readonly sign?: Sign | undefined;
  /**
   * Further headers of every request, for a tunnel or a gateway. A `Host` replaces that of `url`.
   */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds for the answer to a slow body. Choose more than the receiver's own limit. Other
   * answers get 5,000, or more if genuine deliveries are answered late. Default 15,000.
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
  /** Called on progress. `total` grows if the audit finds that it can judge more. */
  readonly onProgress?:
    | ((progress: { readonly done: number; readonly total: number; readonly name: string }) => void)
    | undefined;
}

export interface ReadOptions extends AuditOptions {
  readonly url: URL;
  readonly reference: string;
  readonly moreReferences: readonly string[];
  readonly timeout: number;
  readonly firstAnswer: number;
  readonly settle: number;
  readonly concurrency: number;
}

/** Long enough for a reply that precedes its credit. */
export const SETTLE = 600;

/** The type keeps this list complete, because a missing name would refuse a real option. */
const OPTIONS: { readonly [Name in keyof AuditOptions]-?: true } = {
  ...{
    url: true,
    secret: true,
    reference: true,
    credits: true,
    settle: true,
    bodyLimit: true,
    confirm: true,
    headers: true,
  },
  ...{
    sign: true,
    requestHeaders: true,
    timeout: true,
    firstAnswer: true,
    concurrency: true,
    signal: true,
    stop: true,
  },
  ...{ onResult: true, onProgress: true },
};

/** @throws TypeError for a wrong option */
export function readOptions(options: AuditOptions): ReadOptions {
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
  const url = readUrl(options.url);
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
    throw new TypeError('credits must be a function from a reference to a number');
  }
  if (Object.keys(options.headers ?? {}).some((name) => name !== 'signature' && name !== 'event')) {
    throw new TypeError(
      'headers takes { signature, event }, the names of the two headers: for more headers ' +
        'use requestHeaders',
    );
  }
  for (const [name, value] of Object.entries(options.requestHeaders ?? {})) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new TypeError('requestHeaders has a name or a value that a header cannot have');
    }
  }
  return { ...options, url, reference, moreReferences, timeout, firstAnswer, settle, concurrency };
}

function readUrl(value: string | URL): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('url must not hold a password: give an Authorization in requestHeaders');
  return url;
}
