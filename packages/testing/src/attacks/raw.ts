/** Attacks that need exact bytes: repeated header lines, broken framing, other methods. */
import { chunked, requestBytes, type HeaderLines } from '../wire.js';
import { ACKNOWLEDGED, ALSO_ACKNOWLEDGED, nameOf, type Material } from './attack.js';
import { verdicts, type RawVerdict } from './verdicts.js';

const { repeated, broken, genuine, framing, otherMethod } = verdicts.raw;

export interface RequestParts {
  readonly method?: string;
  /** A query to add to the path. */
  readonly query?: string;
  /** Default `close`. */
  readonly connection?: 'close' | 'keep-alive';
  /** Replaces Content-Length. */
  readonly framing?: HeaderLines;
}

/** Makes requests for one receiver. */
export interface Craft {
  readonly material: Material;
  /** Returns the header lines of a genuine delivery: content type, event, signature. */
  readonly genuineLines: (body?: Uint8Array) => HeaderLines;
  /** Returns a whole request, or its head, as bytes. */
  readonly request: (lines: HeaderLines, body: Uint8Array, parts?: RequestParts) => Buffer;
}

export interface RawAttack extends RawVerdict {
  readonly id: string;
  readonly name: string;
  readonly what: string;
  readonly bytes: (craft: Craft) => Buffer;
}

/** @param more further header lines of every request. A `Host` line replaces `host` */
export function craftOf(
  material: Material,
  host: string,
  path: string,
  more: HeaderLines = [],
): Craft {
  const isHost = ([name]: HeaderLines[number]): boolean => name.toLowerCase() === 'host';
  const named = more.find(isHost)?.[1] ?? host;
  const others = more.filter((line) => !isHost(line));
  return {
    material,
    genuineLines: (body = material.body) => [
      ['Content-Type', 'application/json'],
      [material.names.event, 'payment.succeeded'],
      [material.names.signature, material.mac(body)],
    ],
    request(lines, body, { method = 'POST', query, connection = 'close', framing: frame } = {}) {
      const framing = frame ?? ([['Content-Length', String(body.length)]] as const);
      const target = query === undefined ? path : path + (path.includes('?') ? '&' : '?') + query;
      const all: HeaderLines = [
        ['Host', named],
        ['Connection', connection],
        ...others,
        ...lines,
        ...framing,
      ];
      return requestBytes(all, body, { method, path: target });
    },
  };
}

const CHUNKED: HeaderLines = [['Transfer-Encoding', 'chunked']];

/**
 * Frameworks answer these methods before the merchant's code: many answer OPTIONS, and Fastify 4
 * answers QUERY.
 */
const BY_FRAMEWORKS: Readonly<Record<string, readonly number[]>> = {
  OPTIONS: ACKNOWLEDGED,
  QUERY: [500],
};

function raw(id: string, what: string, verdict: RawVerdict, bytes: RawAttack['bytes']) {
  return { id, name: nameOf(id, verdict.category, what), what, ...verdict, bytes };
}

/** Makes a genuine delivery with rewritten signatures, one header line per value. */
function withSignature(...write: readonly ((right: string) => string)[]): RawAttack['bytes'] {
  return ({ material, request, genuineLines }) => {
    const lines = write.map(
      (each) => [material.names.signature, each(material.signature)] as const,
    );
    return request([...genuineLines().slice(0, 2), ...lines], material.body);
  };
}

const right = (value: string): string => value;
const zeros = (): string => '0'.repeat(64);

export const rawAttacks: readonly RawAttack[] = [
  raw(
    'A03',
    'two header lines with the same right signature',
    repeated,
    withSignature(right, right),
  ),
  raw('A04', 'a right signature line before a forged line', repeated, withSignature(right, zeros)),
  raw('A04', 'a forged signature line before a right line', repeated, withSignature(zeros, right)),
  raw(
    'A07',
    'spaces and tabs around the signature, which HTTP strips',
    genuine,
    withSignature((value) => ` \t${value}\t `),
  ),
  raw(
    'A08',
    'a signature that is folded over two lines',
    broken,
    withSignature((value) => `${value.slice(0, 32)}\r\n ${value.slice(32)}`),
  ),
  raw(
    'A12',
    'the right signature with a NUL after it',
    broken,
    withSignature((value) => `${value}\0`),
  ),
  raw(
    'A15',
    'a control character in the signature',
    { ...broken, severity: 'medium', fault: 'does_not_verify' },
    withSignature((value) => `${value.slice(0, 63)}\u0001`),
  ),
  raw(
    'A23',
    'a signature in the query',
    {
      ...repeated,
      severity: 'medium',
      fault: 'reads_elsewhere',
    },
    ({ material, request, genuineLines }) => {
      const query = `${material.names.signature}=${material.signature}&signature=${material.signature}`;
      return request(genuineLines().slice(0, 2), material.body, { query });
    },
  ),
  raw(
    'E02',
    'two lines of the event header',
    {
      ...repeated,
      category: 'invalid',
      status: 400,
      code: 'invalid_event',
      accepts: [401, 403, 422, ...ACKNOWLEDGED],
      severity: 'low',
      fault: 'event_header',
    },
    ({ material, request, genuineLines }) =>
      request([...genuineLines(), [material.names.event, 'payment.failed']], material.body),
  ),
  raw('D01', 'a body in chunks of one byte', genuine, ({ material, request, genuineLines }) =>
    Buffer.concat([
      request(genuineLines(), Buffer.alloc(0), { framing: CHUNKED }),
      chunked(material.body, 1),
    ]),
  ),
  raw(
    'D03',
    'a declared length of 1 GB',
    {
      category: 'invalid',
      status: 413,
      code: 'body_too_large',
      // A receiver that counts the received bytes waits for more.
      accepts: [400, 401, 403, 408],
      mayClose: true,
      severity: 'high',
      fault: 'no_limit',
    },
    ({ request, genuineLines }) =>
      request(genuineLines(), Buffer.alloc(1_024, 0x20), {
        framing: [['Content-Length', '1073741824']],
      }),
  ),
  raw('D09', 'two lengths that differ', framing, ({ material, request, genuineLines }) => {
    const { length } = material.body;
    const lengths: HeaderLines = [
      ['Content-Length', String(length)],
      ['Content-Length', String(length + 1)],
    ];
    return request(genuineLines(), material.body, { framing: lengths });
  }),
  raw('D09', 'a negative length', framing, ({ material, request, genuineLines }) =>
    request(genuineLines(), material.body, { framing: [['Content-Length', '-1']] }),
  ),
  raw(
    'D09',
    'a length beside a chunked body',
    {
      ...framing,
      accepts: [...framing.accepts, ...ACKNOWLEDGED],
      mustClose: true,
    },
    ({ material, request, genuineLines }) => {
      const lengths: HeaderLines = [['Content-Length', String(material.body.length)], ...CHUNKED];
      const head = request(genuineLines(), Buffer.alloc(0), {
        connection: 'keep-alive',
        framing: lengths,
      });
      return Buffer.concat([head, chunked(material.body)]);
    },
  ),
  raw(
    'D17',
    'an unknown expectation',
    { ...genuine, byServer: true, accepts: [417, 400, ...ALSO_ACKNOWLEDGED] },
    ({ material, request, genuineLines }) =>
      request([...genuineLines(), ['Expect', 'foo']], material.body),
  ),
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'].map((method) =>
    raw(
      'D18',
      method,
      {
        ...otherMethod,
        method,
        accepts: [...otherMethod.accepts, ...(BY_FRAMEWORKS[method] ?? [])],
        mayClose: method === 'QUERY',
      },
      ({ material, request, genuineLines }) => request(genuineLines(), material.body, { method }),
    ),
  ),
  raw(
    'D25',
    '2,000 headers',
    { ...genuine, byServer: true, accepts: [431, 400, 413, ...ALSO_ACKNOWLEDGED], mayClose: true },
    ({ material, request, genuineLines }) => {
      const many = Array.from(
        { length: 2_000 },
        (_, index) => [`X-Header-${index}`, 'value'] as const,
      );
      return request([...genuineLines(), ...many], material.body);
    },
  ),
];
