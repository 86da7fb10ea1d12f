/** Attacks that need exact bytes: repeated header lines, broken framing, other methods. */
import { chunked, requestBytes, type HeaderLines } from '../wire.js';
import { nameOf, type Material, type Verdict } from './attack.js';
import { ACKNOWLEDGED, also, forged, genuine, invalidEvent, tooLarge } from './verdicts.js';

/** The right answer to a request of raw bytes. */
interface RawVerdict extends Verdict {
  /** Set if a server may close the connection instead of answering. */
  readonly mayClose?: boolean;
  /** Set if a server that acknowledges must then close the connection without another reply. */
  readonly mustClose?: boolean;
  /** Set if the HTTP server decides before the receiver. */
  readonly byServer?: boolean;
  readonly method?: string;
}

export interface RequestParts {
  readonly method?: string;
  /** A query to add to the path. */
  readonly query?: string;
  /** Default `close`. */
  readonly connection?: 'close' | 'keep-alive';
  /** Replaces Content-Length. */
  readonly framing?: HeaderLines;
}

/** Creates requests for one receiver. */
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

/** @param more other header lines for every request. A `Host` line replaces `host` */
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

const repeated = forged('several_spellings', 'note');
const valid = genuine('note', 'http_form');
/** The HTTP parser rejects these before the receiver. */
const broken = { ...forged('framing', 'low'), byServer: true, mayClose: true };
const framing: RawVerdict = {
  category: 'invalid',
  status: 400,
  accepts: [501],
  severity: 'low',
  fault: 'framing',
  byServer: true,
  mayClose: true,
};
const otherMethod: RawVerdict = {
  ...framing,
  status: 405,
  accepts: [404, 403, 400, 501],
  fault: 'method',
};

/**
 * Frameworks answer these methods before the merchant's code: many answer OPTIONS, and Fastify 4
 * answers QUERY.
 */
const BY_FRAMEWORKS: Readonly<Record<string, readonly number[]>> = {
  OPTIONS: ACKNOWLEDGED,
  QUERY: [500],
};

function raw(
  id: string,
  verdict: RawVerdict,
  deliveries: Readonly<Record<string, RawAttack['bytes']>>,
): RawAttack[] {
  return Object.entries(deliveries).map(([what, bytes]) => {
    const name = nameOf(id, verdict.category, what);
    return { id, name, what, ...verdict, bytes };
  });
}

/** Creates a genuine delivery with rewritten signatures, one header line per value. */
function withSignature(...write: readonly ((right: string) => string)[]): RawAttack['bytes'] {
  return ({ material, request, genuineLines }) => {
    const lines = write.map(
      (each) => [material.names.signature, each(material.signature)] as const,
    );
    return request([...genuineLines().slice(0, 2), ...lines], material.body);
  };
}

/** Creates a genuine delivery with more header lines. */
function withLines(more: (material: Material) => HeaderLines): RawAttack['bytes'] {
  return ({ material, request, genuineLines }) =>
    request([...genuineLines(), ...more(material)], material.body);
}

/** Creates a genuine delivery under other lines for its length. */
function withFraming(lines: (length: number) => HeaderLines): RawAttack['bytes'] {
  return ({ material, request, genuineLines }) =>
    request(genuineLines(), material.body, { framing: lines(material.body.length) });
}

/** Creates a genuine delivery in chunks. */
function inChunks(parts: RequestParts, more: HeaderLines = [], size?: number): RawAttack['bytes'] {
  return ({ material, request, genuineLines }) => {
    const framed = { ...parts, framing: [...more, ...CHUNKED] };
    const head = request(genuineLines(), Buffer.alloc(0), framed);
    return Buffer.concat([head, chunked(material.body, size)]);
  };
}

const right = (value: string): string => value;
const zeros = (): string => '0'.repeat(64);

export const rawAttacks: readonly RawAttack[] = [
  raw('A03', repeated, {
    'two header lines with the same right signature': withSignature(right, right),
  }),
  raw('A04', repeated, {
    'a right signature line before a forged line': withSignature(right, zeros),
    'a forged signature line before a right line': withSignature(zeros, right),
  }),
  raw('A07', valid, {
    'spaces and tabs around the signature, which HTTP strips': withSignature(
      (value) => ` \t${value}\t `,
    ),
  }),
  raw('A08', broken, {
    'a signature that is folded over two lines': withSignature(
      (value) => `${value.slice(0, 32)}\r\n ${value.slice(32)}`,
    ),
  }),
  raw('A12', broken, {
    'the right signature with a NUL after it': withSignature((value) => `${value}\0`),
  }),
  raw('A15', also(broken, [], { severity: 'medium', fault: 'does_not_verify' }), {
    'a control character in the signature': withSignature((value) => `${value.slice(0, 63)}\u0001`),
  }),
  raw('A23', forged('reads_elsewhere', 'medium'), {
    'a signature in the query': ({ material, request, genuineLines }) => {
      const { names, signature, body } = material;
      const query = `${names.signature}=${signature}&signature=${signature}`;
      return request(genuineLines().slice(0, 2), body, { query });
    },
  }),
  raw('D01', valid, { 'a body in chunks of one byte': inChunks({}, [], 1) }),
  // A receiver that counts the received bytes waits for more.
  raw('D03', also(tooLarge, [408], { mayClose: true }), {
    'a declared length of 1 GB': ({ request, genuineLines }) =>
      request(genuineLines(), Buffer.alloc(1_024, 0x20), {
        framing: [['Content-Length', '1073741824']],
      }),
  }),
  raw('D09', framing, {
    'two lengths that differ': withFraming((length) =>
      [length, length + 1].map((each) => ['Content-Length', String(each)]),
    ),
    'a negative length': withFraming(() => [['Content-Length', '-1']]),
  }),
  raw('D09', also(framing, ACKNOWLEDGED, { mustClose: true }), {
    'a length beside a chunked body': (craft) => {
      const length = ['Content-Length', String(craft.material.body.length)] as const;
      return inChunks({ connection: 'keep-alive' }, [length])(craft);
    },
  }),
  raw('D17', also(valid, [417, 400], { byServer: true }), {
    'an unknown expectation': withLines(() => [['Expect', 'foo']]),
  }),
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'].map((method) => {
    const traits = { method, mayClose: method === 'QUERY' };
    return raw('D18', also(otherMethod, BY_FRAMEWORKS[method] ?? [], traits), {
      [method]: ({ material, request, genuineLines }) =>
        request(genuineLines(), material.body, { method }),
    });
  }),
  raw('D25', also(valid, [431, 400, 413], { byServer: true, mayClose: true }), {
    '2,000 headers': withLines(() =>
      Array.from({ length: 2_000 }, (_, index) => [`X-Header-${index}`, 'value']),
    ),
  }),
  raw('E02', also(invalidEvent, ACKNOWLEDGED), {
    'two lines of the event header': withLines(({ names }) => [[names.event, 'payment.failed']]),
  }),
].flat();
