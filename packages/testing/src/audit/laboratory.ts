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
  /** Sends bytes on a connection of their own, and gives the answer, which may take 5 s, or `patience` milliseconds. */
  readonly exchange: (bytes: Uint8Array, method?: string, patience?: number) => Promise<WireAnswer>;
  /** Sends what must be acknowledged: where the answer is 503, it is sent again for a while. */
  readonly exchangePatiently: (bytes: Uint8Array) => Promise<WireAnswer>;
  /** Opens a connection within so many milliseconds. @throws the socket's error with its code */
  readonly reach: (milliseconds: number) => Promise<void>;
  /** Sends the audit's genuine delivery until it is answered otherwise than by 503, or until so many milliseconds have passed. */
  readonly firstAnswer: (milliseconds: number) => Promise<WireAnswer>;
  /** Sends a genuine delivery of the audit's order, or of another one, and gives its answer. */
  readonly serves: (body?: Uint8Array) => Promise<WireAnswer>;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Ending the audit closes its connections: what they show from then on says nothing about the server. @throws the reason of the end */
  readonly throwIfEnded: () => void;
}

/** After how many milliseconds a delivery that was answered 503 is sent again. */
const RETRIES = [50, 150, 300, 600];

/** How long an answer may take where no body is slow, in milliseconds. */
const PATIENCE = 5_000;

export function createLaboratory(target: Target, material: Material, requestHeaders: Readonly<Record<string, string>>): Laboratory {
  const { url, timeout, signal } = target;
  const craft = craftOf(material, url.host, url.pathname + url.search, Object.entries(requestHeaders));

  const open = (timeout = PATIENCE): Promise<Wire> => Wire.open(url, { timeout, signal });

  const exchange: Laboratory['exchange'] = async (bytes, method, patience = PATIENCE) => {
    const wire = await open(patience);
    try {
      // Not awaited: some servers answer before they have read everything.
      void wire.write(bytes);
      return await wire.answer(method, patience);
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

  const genuine = (body: Uint8Array): Uint8Array => craft.request(craft.genuineLines(body), body);

  const firstAnswer = async (milliseconds: number): Promise<WireAnswer> => {
    const end = performance.now() + milliseconds;
    const left = (): number => Math.max(1, Math.round(end - performance.now()));
    let answer = await exchange(genuine(material.body), undefined, left());
    for (const pause of RETRIES) {
      if (statusOf(answer) !== 503 || left() <= pause) break;
      await wait(pause, signal);
      answer = await exchange(genuine(material.body), undefined, left());
    }
    return answer;
  };

  return {
    ...craft,
    timeout,
    replies: [],
    open: () => open(),
    reach: async (milliseconds) => (await open(milliseconds)).destroy(),
    firstAnswer,
    exchange,
    exchangePatiently,
    serves: (body = material.body) => exchangePatiently(genuine(body)),
    wait: (milliseconds) => wait(milliseconds, signal),
    throwIfEnded: () => signal?.throwIfAborted(),
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
