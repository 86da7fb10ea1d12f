import type { Sign } from '../attacks/attack.js';
import { checkOptions } from '../check-options.js';
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
   * name an order of your tests that may be credited. Default `paylink-audit`, which a receiver
   * that looks up orders may refuse.
   */
  readonly reference?: string | undefined;
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
  /** Ends the audit early with an incomplete report. */
  readonly signal?: AbortSignal | undefined;
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
  readonly timeout: number;
  readonly firstAnswer: number;
  readonly concurrency: number;
}

const OPTIONS = [
  ...['url', 'secret', 'reference', 'bodyLimit', 'headers', 'sign', 'requestHeaders'],
  ...['timeout', 'firstAnswer', 'concurrency', 'signal', 'onResult', 'onProgress'],
];

/** @throws TypeError for a wrong option */
export function createSettings(options: AuditOptions): AuditSettings {
  checkOptions(options, OPTIONS);
  const { secret, reference = 'paylink-audit' } = options;
  const { timeout = 15_000, firstAnswer = 1_500, concurrency = 4 } = options;
  const url = parseUrl(options.url);
  requireSecret(secret);
  if (typeof reference !== 'string') throw new TypeError('reference must be a string');
  for (const [name, value] of Object.entries({ timeout, firstAnswer })) {
    if (!(Number.isFinite(value) && value >= 1))
      throw new TypeError(`${name} must be a number of milliseconds, at least 1`);
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 32)) {
    throw new TypeError('concurrency must be a whole number from 1 to 32');
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
  return { ...options, url, reference, timeout, firstAnswer, concurrency };
}

function parseUrl(value: string | URL): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('url must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('url must not hold a password: set Authorization in requestHeaders');
  return url;
}
