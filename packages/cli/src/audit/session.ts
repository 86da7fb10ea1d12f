/** The tools of the probes: connections to the receiver, and a record of every reply. */
import {
  acknowledges,
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

/** Milliseconds before each retry of a delivery. */
const RETRIES = [50, 150, 300, 600];

/** Milliseconds for an answer, except to a slow body. */
export const PATIENCE = 5_000;

export type AuditSession = Readonly<ReturnType<typeof openSession>>;

export function openSession(
  { url, timeout, signal }: Target,
  material: Material,
  requestHeaders: Readonly<Record<string, string>>,
) {
  const { host, pathname, search } = url;
  const craft = craftOf(material, host, pathname + search, Object.entries(requestHeaders));
  const genuine = craft.request(craft.genuineLines(), material.body);

  /** Every reply of the receiver, with its delivery. */
  const replies: { readonly to: string; readonly reply: WireReply }[] = [];

  /** The status for an unknown order, after the audit sent one. Never 2xx, 401 or 403. */
  const unknownOrder: { status?: number | undefined } = {};

  const wait = async (milliseconds: number): Promise<void> => {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    signal.throwIfAborted();
  };

  const open = (timeout = PATIENCE): Promise<Wire> => Wire.open(url, { timeout, signal });

  /** Opens a connection for `work`, and breaks it afterwards. */
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

  /**
   * Sends bytes on a new connection and returns the answer within `milliseconds`. Does not wait for
   * the bytes, because some servers answer before they read everything.
   */
  const exchangeWithin = (milliseconds: number, bytes: Uint8Array): Promise<WireAnswer> =>
    onWire((wire) => {
      void wire.write(bytes);
      return wire.answer('POST', milliseconds);
    }, milliseconds);

  /**
   * Returns the answer on an open connection. Before it returns "no answer", waits as long for a
   * genuine delivery, because all answers are late on a slow machine.
   */
  const answerOn = async (wire: Wire, patience: number, method = 'POST'): Promise<WireAnswer> => {
    const answer = await wire.answer(method, patience);
    if (answer !== 'no answer') return answer;
    await orClosed(exchangeWithin(Math.min(patience, PATIENCE), genuine));
    return wire.answer(method, 0);
  };

  /** Like `exchangeWithin`, with the patience of `answerOn`. */
  const exchange = (bytes: Uint8Array, method?: string, patience = PATIENCE): Promise<WireAnswer> =>
    onWire((wire) => {
      void wire.write(bytes);
      return answerOn(wire, patience, method);
    });

  const retried = async (
    once: () => Promise<WireAnswer>,
    left = (): number => Infinity,
  ): Promise<WireAnswer> => {
    let answer = await once();
    for (const pause of RETRIES) {
      if (!asksForRetry(answer) || left() <= pause) break;
      await wait(pause);
      answer = await once();
    }
    return answer;
  };

  /** Sends again for a while if the answer asks for a retry. */
  const exchangePatiently = (bytes: Uint8Array, patience?: number): Promise<WireAnswer> =>
    retried(() => exchange(bytes, 'POST', patience));

  /** Sends the audit's genuine delivery like `exchangePatiently`, until the time is over. */
  const firstAnswer = (milliseconds: number): Promise<WireAnswer> => {
    const end = performance.now() + milliseconds;
    const left = (): number => Math.max(1, Math.round(end - performance.now()));
    return retried(() => exchangeWithin(left(), genuine), left);
  };

  /** Sends a genuine delivery, and returns the answer. */
  const serves = (patience?: number): Promise<WireAnswer> => exchangePatiently(genuine, patience);

  /**
   * Call this before judging a closed connection: an ending audit closes its own connections.
   * @throws the reason of the end
   */
  const throwIfEnded = (): void => signal.throwIfAborted();

  return {
    ...{ ...craft, url, timeout, replies, unknownOrder, open, onWire, firstAnswer, wait },
    ...{ exchangeWithin, exchange, exchangePatiently, answerOn, serves, throwIfEnded },
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
