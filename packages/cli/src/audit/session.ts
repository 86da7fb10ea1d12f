/** The tools of the probes: connections to the receiver, and a record of every reply. */
import {
  acknowledges,
  type Craft,
  craftOf,
  type Material,
  Wire,
  type WireAnswer,
  type WireReply,
} from '@paylink/testing/internal';

export interface Target {
  readonly url: URL;
  /** Milliseconds for the answer to a slow body. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export interface AuditSession extends Craft {
  readonly timeout: number;
  /** Every reply of the receiver, with its delivery. */
  readonly replies: { readonly to: string; readonly reply: WireReply }[];
  readonly open: () => Promise<Wire>;
  /** Opens a connection for `work`, and breaks it afterwards. */
  readonly onWire: <Result>(work: (wire: Wire) => Promise<Result>) => Promise<Result>;
  /** Sends bytes on a new connection and returns the answer within `milliseconds`. */
  readonly exchangeWithin: (milliseconds: number, bytes: Uint8Array) => Promise<WireAnswer>;
  /**
   * Like `exchangeWithin` with 5 s. Before it returns "no answer", waits as long for a genuine
   * delivery, because all answers are late on a slow machine.
   */
  readonly exchange: (bytes: Uint8Array, method?: string) => Promise<WireAnswer>;
  /** Sends again for a while if the answer asks for a retry. */
  readonly exchangePatiently: (bytes: Uint8Array, patience?: number) => Promise<WireAnswer>;
  /** Returns the answer on an open connection, with the patience of `exchange`. */
  readonly answerOn: (wire: Wire, patience: number, method?: string) => Promise<WireAnswer>;
  /**
   * The receiver's status for an unknown order, after the audit sent one. Never 2xx, 401 or 403.
   */
  readonly unknownOrder: { status?: number | undefined };
  /** Opens a connection within `milliseconds`. @throws the socket's error with its code */
  readonly reach: (milliseconds: number) => Promise<void>;
  /**
   * Sends the audit's genuine delivery until an answer does not ask for a retry, or the time is
   * over.
   */
  readonly firstAnswer: (milliseconds: number) => Promise<WireAnswer>;
  /** Sends a genuine delivery, and returns the answer. */
  readonly serves: (patience?: number) => Promise<WireAnswer>;
  readonly wait: (milliseconds: number) => Promise<void>;
  /**
   * Call this before judging a closed connection: an ending audit closes its own connections.
   * @throws the reason of the end
   */
  readonly throwIfEnded: () => void;
}

/** Milliseconds before each retry of a delivery. */
const RETRIES = [50, 150, 300, 600];

/** Milliseconds for an answer, except to a slow body. */
export const PATIENCE = 5_000;

export function openSession(
  target: Target,
  material: Material,
  requestHeaders: Readonly<Record<string, string>>,
): AuditSession {
  const { url, timeout, signal } = target;
  const craft = craftOf(
    material,
    url.host,
    url.pathname + url.search,
    Object.entries(requestHeaders),
  );

  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve, reject) => {
      // An already aborted signal does not emit an event.
      signal.throwIfAborted();
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      }, milliseconds);
      signal.addEventListener('abort', abort, { once: true });
    });

  const open = (timeout = PATIENCE): Promise<Wire> => Wire.open(url, { timeout, signal });

  const onWire = async <Result>(
    work: (wire: Wire) => Promise<Result>,
    patience?: number,
  ): Promise<Result> => {
    const wire = await open(patience);
    try {
      return await work(wire);
    } finally {
      wire.destroy();
    }
  };

  /** Does not wait for the bytes, because some servers answer before they read everything. */
  const send = (
    bytes: Uint8Array,
    answer: (wire: Wire) => Promise<WireAnswer>,
    patience?: number,
  ): Promise<WireAnswer> =>
    onWire((wire) => {
      void wire.write(bytes);
      return answer(wire);
    }, patience);

  const exchangeWithin: AuditSession['exchangeWithin'] = (milliseconds, bytes) =>
    send(bytes, (wire) => wire.answer('POST', milliseconds), milliseconds);

  const genuine = craft.request(craft.genuineLines(), material.body);

  const answerOn: AuditSession['answerOn'] = async (wire, patience, method = 'POST') => {
    const answer = await wire.answer(method, patience);
    if (answer !== 'no answer') return answer;
    await orClosed(exchangeWithin(Math.min(patience, PATIENCE), genuine));
    return wire.answer(method, 0);
  };

  const exchange = (bytes: Uint8Array, method?: string, patience = PATIENCE): Promise<WireAnswer> =>
    send(bytes, (wire) => answerOn(wire, patience, method));

  const retried = async (
    once: () => Promise<WireAnswer>,
    left: () => number,
  ): Promise<WireAnswer> => {
    let answer = await once();
    for (const pause of RETRIES) {
      if (!asksForRetry(answer) || left() <= pause) break;
      await wait(pause);
      answer = await once();
    }
    return answer;
  };

  const exchangePatiently: AuditSession['exchangePatiently'] = (bytes, patience) =>
    retried(
      () => exchange(bytes, 'POST', patience),
      () => Infinity,
    );

  const firstAnswer = (milliseconds: number): Promise<WireAnswer> => {
    const end = performance.now() + milliseconds;
    const left = (): number => Math.max(1, Math.round(end - performance.now()));
    return retried(() => exchangeWithin(left(), genuine), left);
  };

  return {
    ...craft,
    timeout,
    replies: [],
    unknownOrder: {},
    open,
    onWire,
    reach: async (milliseconds) => (await open(milliseconds)).destroy(),
    firstAnswer,
    exchangeWithin,
    exchange,
    exchangePatiently,
    answerOn,
    serves: (patience) => exchangePatiently(genuine, patience),
    wait,
    throwIfEnded: () => signal.throwIfAborted(),
  };
}

export function statusOf(answer: WireAnswer): number | undefined {
  return typeof answer === 'string' ? undefined : answer.status;
}

/** Matches 503, and 408 because a busy server may read a timely request too late. */
export function asksForRetry(answer: WireAnswer): boolean {
  const status = statusOf(answer);
  return status === 503 || status === 408;
}

/** Matches 429, which shows nothing about the receiver behind the rate limit. */
export function isLimited(answer: WireAnswer): boolean {
  return statusOf(answer) === 429;
}

/** Returns 'closed' if the connection failed. */
export function orClosed(answer: Promise<WireAnswer>): Promise<WireAnswer> {
  return answer.catch(() => 'closed');
}

export function isAcknowledged(answer: WireAnswer): boolean {
  return acknowledges(statusOf(answer));
}
