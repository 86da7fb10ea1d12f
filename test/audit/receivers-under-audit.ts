/** Receivers with one fault each, or none, and the exact causes that an audit must name. */
import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { answering, BODY_LIMIT, receiver, SECRET, SOUND, type Habits } from './hand-written.js';

type CauseId = AuditReport['causes'][number]['id'];

export interface ReceiverUnderAudit {
  readonly name: string;
  readonly listener: () => RequestListener;
  /** Every critical, high or medium cause. */
  readonly causes: readonly CauseId[];
}

const hmac = (body: string | Buffer): string =>
  createHmac('sha256', SECRET).update(body).digest('hex');

/** The usual receiver by hand, behind a parser of Express. */
function byExpress(parser: RequestHandler): RequestListener {
  const app = express();
  app.post('/hook', parser, (req, res) => {
    const body: unknown = req.body;
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    if (!isRaw || req.get('x-service-signature') !== hmac(body)) return void res.sendStatus(401);
    try {
      const { reference } = JSON.parse(String(body)) as { readonly reference?: unknown };
      res.sendStatus(typeof reference === 'string' ? 200 : 400);
    } catch {
      res.sendStatus(400);
    }
  });
  app.use(((error: { status?: number }, _req, res, _next) => {
    res.sendStatus(error.status ?? 500);
  }) satisfies ErrorRequestHandler);
  return app as RequestListener;
}

const plain = (habits: Partial<Habits>, ...causes: CauseId[]) => ({
  listener: () => receiver(habits),
  causes,
});
const anyText: Partial<Habits> = {
  isSignature: (header) => header !== '',
  equal: (given, expected) => given === expected,
};

/**
 * Parses like typed parsers and careful merchants: whole amounts, unique keys, and the header's
 * kind.
 */
function parseStrictly(raw: Buffer): unknown {
  const text = raw.toString();
  const parsed = SOUND.parse(raw) as { readonly event?: unknown } | null;
  const isTwice = text.split('"reference":').length > 2;
  const isOtherKind = parsed?.event !== undefined && parsed.event !== 'payment.succeeded';
  if (isTwice || isOtherKind || /":\d+(?:\.\d|e\d)/.test(text)) throw new Error('strict');
  return parsed;
}

const TABLE: Readonly<Record<string, Omit<ReceiverUnderAudit, 'name'>>> = {
  'sound, in Node': plain({}),
  'as strict as one in Go: no identity, no trailing text': plain({
    codings: [''],
    forged: () => 'forbidden',
    parse: (raw) => {
      const parsed = JSON.parse(
        new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw),
      ) as object | null;
      if (parsed !== null && 'amount' in parsed && typeof parsed.amount !== 'number')
        throw new Error('amount');
      return parsed;
    },
  }),
  'stricter than the contract with what it leaves open': {
    listener: () => (req, res) => {
      if (req.headers['content-type']?.startsWith('multipart/') !== true)
        return receiver({ parse: parseStrictly })(req, res);
      res.writeHead(415, { connection: 'close' }).end();
    },
    causes: [],
  },
  'takes everything with 200': {
    listener: () => (req, res) => void req.resume().on('end', () => res.end()),
    causes: ['does_not_verify', 'no_limit'],
  },
  'verifies only where there is a signature': {
    listener: () => (req, res) => {
      const header = req.headers['x-service-signature'];
      const isAbsent = header === undefined || header === '';
      if (isAbsent) req.headers['x-service-signature'] = '0'.repeat(64);
      receiver(isAbsent ? { equal: () => true } : {})(req, res);
    },
    causes: ['accepts_unsigned', 'reads_elsewhere'],
  },
  'runs without a secret': plain({ secret: '' }, 'public_secret', 'not_acknowledged'),
  'has the public secret of the fixtures': plain(
    { secret: 'paylink-testing-secret-not-for-production' },
    'public_secret',
    'not_acknowledged',
  ),
  'compares the beginning of the signature': plain(
    { equal: (given, expected) => given.slice(0, 16) === expected.slice(0, 16) },
    'compares_part',
  ),
  'trims and strips prefixes': plain(
    { ...anyText, readHeader: (header) => [header.replace(/^sha256=/, '').trim()] },
    'several_spellings',
  ),
  'splits the header on commas': plain({
    ...anyText,
    readHeader: (header) => header.split(/,\s*/),
  }),
  'decodes hexadecimal and compares the bytes': plain(
    {
      isSignature: (header) => Buffer.from(header, 'hex').length === 32,
      equal: (given, expected) => Buffer.from(given, 'hex').equals(Buffer.from(expected, 'hex')),
    },
    'several_spellings',
  ),
  'throws on a signature of another length': plain(
    { isSignature: () => true },
    'crashes',
    'several_spellings',
  ),
  'decodes the body as text before it verifies': plain(
    {
      verified: (raw) => new TextDecoder().decode(raw),
      parse: (raw) => JSON.parse(new TextDecoder().decode(raw)) as unknown,
    },
    'decodes_text',
  ),
  'trims the body before it verifies': plain(
    { verified: (raw) => Buffer.from(raw.toString('latin1').trim(), 'latin1') },
    'trims',
  ),
  'verifies what express.json() made of the body': {
    listener: () => {
      const app = express();
      app.use(express.json());
      app.post('/hook', (req, res) => {
        res.sendStatus(
          req.get('x-service-signature') === hmac(JSON.stringify(req.body)) ? 200 : 401,
        );
      });
      return app as RequestListener;
    },
    causes: ['reserializes', 'quotes_body', 'wrong_limit'],
  },
  'parses before it verifies': plain(
    { verifiesFirst: false, invalid: () => 'invalid' },
    'parses_first',
    'crashes',
  ),
  'inflates before it verifies': plain(
    {
      codings: ['', 'identity', 'gzip'],
      verified: (raw, headers) => (headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw),
      parse: (raw) =>
        JSON.parse(raw[0] === 0x1f ? gunzipSync(raw).toString() : raw.toString()) as unknown,
    },
    'inflates',
  ),
  'sends its stack': plain(
    { invalid: (error) => (error as Error).stack! },
    'quotes_body',
    'leaks_trace',
  ),
  'sends the signature that it expected': plain({ forged: (reason) => reason }, 'leaks_secret'),
  'says what was wrong with a signature': plain({
    forged: (reason) => (reason === 'malformed' ? reason : 'no match'),
  }),
  'has no limit on the body': plain({ bodyLimit: Number.POSITIVE_INFINITY }, 'no_limit'),
  'has a smaller limit than was given': plain({ bodyLimit: 19_999 }, 'wrong_limit'),
  'depends on the Content-Type': {
    listener: () => (req, res) => {
      if (req.headers['content-type'] === 'application/json') receiver()(req, res);
      else res.writeHead(415).end();
    },
    causes: ['content_type'],
  },
  'reads the signature from the query too': {
    listener: () => (req, res) => {
      req.headers['x-service-signature'] ??=
        new URL(req.url!, 'http://receiver').searchParams.get('signature') ?? undefined;
      receiver()(req, res);
    },
    causes: ['reads_elsewhere'],
  },
  'answers 500 to everything that it refuses': {
    listener: () => answering((status) => (status < 400 ? status : 500)),
    causes: ['crashes'],
  },
  'inflates by express.raw for JSON alone': {
    listener: () => byExpress(express.raw({ type: 'application/json', limit: BODY_LIMIT })),
    causes: ['inflates', 'content_type'],
  },
  'decodes by express.text for JSON alone': {
    listener: () => byExpress(express.text({ type: 'application/json', limit: BODY_LIMIT })),
    causes: ['inflates', 'decodes_text', 'content_type'],
  },
  'refuses everything else by 418': {
    listener: () => answering((status) => (status >= 400 && status < 500 ? 418 : status)),
    causes: [],
  },
};

export const receivers: readonly ReceiverUnderAudit[] = Object.entries(TABLE).map(
  ([name, rest]) => ({ name, ...rest }),
);
