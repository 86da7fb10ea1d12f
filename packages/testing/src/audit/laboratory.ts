/** What the probes of an audit work with: the receiver, genuine deliveries, and a record of every reply. */
import { ACKNOWLEDGED, type Material } from '../attacks/attack.js';
import { Connection, type Answer, type RawReply, type Target } from './connection.js';

export type Lines = readonly (readonly [name: string, value: string])[];

export interface RequestParts {
  readonly method?: string;
  /** Behind the path of the URL. */
  readonly query?: string;
  /** In place of Content-Length. */
  readonly framing?: Lines;
}

export interface Laboratory {
  readonly material: Material;
  readonly timeout: number;
  /** Every reply of the receiver, with what it was to. */
  readonly replies: { readonly to: string; readonly reply: RawReply }[];
  /** The lines of a genuine delivery: content type, event, signature. */
  readonly genuineLines: (body?: Uint8Array) => Lines;
  /** A whole request, or its head, as bytes. */
  readonly request: (lines: Lines, body: Uint8Array, parts?: RequestParts) => Buffer;
  readonly open: () => Promise<Connection>;
  /** Sends bytes on a connection of their own, and gives the answer. */
  readonly exchange: (bytes: Uint8Array, method?: string) => Promise<Answer>;
  /** Sends what must be acknowledged: a 503 says to come again, and is asked again for a while. */
  readonly exchangePatiently: (bytes: Uint8Array) => Promise<Answer>;
  /** Whether a genuine delivery is acknowledged. */
  readonly serves: () => Promise<Answer>;
}

/** How often, and after how many milliseconds, what was answered 503 is sent again. */
const COMING_AGAIN = [50, 150, 400, 1_000];

export function createLaboratory(target: Target, material: Material, requestHeaders: Readonly<Record<string, string>>): Laboratory {
  const path = target.url.pathname + target.url.search;

  const request: Laboratory['request'] = (lines, body, { method = 'POST', query, framing } = {}) => {
    const all: Lines = [
      ['Host', target.url.host],
      ['Connection', 'close'],
      ...Object.entries(requestHeaders),
      ...lines,
      ...(framing ?? [['Content-Length', String(body.length)]]),
    ];
    const where = query === undefined ? path : path + (path.includes('?') ? '&' : '?') + query;
    const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return Buffer.concat([Buffer.from(`${method} ${where} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body]);
  };

  const exchange: Laboratory['exchange'] = async (bytes, method) => {
    const connection = await Connection.open(target);
    try {
      // Not waited for: some servers answer before they have read everything.
      void connection.write(bytes);
      return await connection.answer(method);
    } finally {
      connection.destroy();
    }
  };

  const exchangePatiently: Laboratory['exchangePatiently'] = async (bytes) => {
    for (const pause of COMING_AGAIN) {
      const answer = await exchange(bytes);
      if (statusOf(answer) !== 503) return answer;
      await wait(pause, target.signal);
    }
    return exchange(bytes);
  };

  const genuineLines: Laboratory['genuineLines'] = (body = material.body) => [
    ['Content-Type', 'application/json'],
    [material.names.event, 'payment.succeeded'],
    [material.names.signature, material.mac(body)],
  ];

  return {
    material,
    timeout: target.timeout,
    replies: [],
    genuineLines,
    request,
    open: () => Connection.open(target),
    exchange,
    exchangePatiently,
    serves: () => exchangePatiently(request(genuineLines(), material.body)),
  };
}

export function statusOf(answer: Answer): number | undefined {
  return typeof answer === 'string' ? undefined : answer.status;
}

export function isAcknowledged(answer: Answer): boolean {
  const status = statusOf(answer);
  return status !== undefined && (ACKNOWLEDGED as readonly number[]).includes(status);
}

export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
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
