/** What the probes of an audit work with: the receiver, genuine deliveries, and a record of every reply. */
import { ACKNOWLEDGED, type Material } from '../attacks/attack.js';
import { craftOf, type Craft } from '../attacks/raw.js';
import { Wire, type WireAnswer, type WireReply } from '../wire.js';

export interface Target {
  readonly url: URL;
  /** Milliseconds for the answer to a slow body. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

export interface Laboratory extends Craft {
  readonly timeout: number;
  /** Every reply of the receiver, with what it was to. */
  readonly replies: { readonly to: string; readonly reply: WireReply }[];
  readonly open: () => Promise<Wire>;
  /** Sends bytes on a connection of their own, and gives the answer. */
  readonly exchange: (bytes: Uint8Array, method?: string) => Promise<WireAnswer>;
  /** Sends what must be acknowledged: where the answer is 503, it is sent again for a while. */
  readonly exchangePatiently: (bytes: Uint8Array) => Promise<WireAnswer>;
  /** Gives up on a connection within 1.5 s: a server that is up takes it at once. */
  readonly reach: () => Promise<void>;
  /** Sends a genuine delivery of the audit's order, or of another one, and gives its answer. */
  readonly serves: (body?: Uint8Array) => Promise<WireAnswer>;
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** After how many milliseconds a delivery that was answered 503 is sent again. */
const RETRIES = [50, 150, 300, 600];

/** How long an answer may take where no body is slow, in milliseconds. */
const PATIENCE = 5_000;

export function createLaboratory(target: Target, material: Material, requestHeaders: Readonly<Record<string, string>>): Laboratory {
  const { url, timeout, signal } = target;
  const craft = craftOf(material, url.host, url.pathname + url.search, Object.entries(requestHeaders));

  const open = (): Promise<Wire> => Wire.open(url, { timeout: PATIENCE, signal });

  const exchange: Laboratory['exchange'] = async (bytes, method) => {
    const wire = await open();
    try {
      // Not awaited: some servers answer before they have read everything.
      void wire.write(bytes);
      return await wire.answer(method, PATIENCE);
    } finally {
      wire.destroy();
    }
  };

  const exchangePatiently: Laboratory['exchangePatiently'] = async (bytes) => {
    for (const pause of RETRIES) {
      const answer = await exchange(bytes);
      if (statusOf(answer) !== 503) return answer;
      await wait(pause, signal);
    }
    return exchange(bytes);
  };

  return {
    ...craft,
    timeout,
    replies: [],
    open,
    reach: async () => (await Wire.open(url, { timeout: 1_500, signal })).destroy(),
    exchange,
    exchangePatiently,
    serves: (body = material.body) => exchangePatiently(craft.request(craft.genuineLines(body), body)),
    wait: (milliseconds) => wait(milliseconds, signal),
  };
}

export function statusOf(answer: WireAnswer): number | undefined {
  return typeof answer === 'string' ? undefined : answer.status;
}

export function isAcknowledged(answer: WireAnswer): boolean {
  const status = statusOf(answer);
  return status !== undefined && (ACKNOWLEDGED as readonly number[]).includes(status);
}

export function isSuccess(answer: WireAnswer): boolean {
  const status = statusOf(answer);
  return status !== undefined && status >= 200 && status < 300;
}

function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
