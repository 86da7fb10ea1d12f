import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { auditReceiver, type AuditReport, type AuditResult } from '@paylink/testing';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { BODY_LIMIT, listen, receiver, SECRET, type Habits } from './hand-written.js';

async function audit(listener: RequestListener): Promise<AuditReport> {
  const { url, close } = await listen(listener);
  try {
    return await auditReceiver({ url, secret: SECRET, bodyLimit: BODY_LIMIT, timeout: 3_000 });
  } finally {
    await close();
  }
}

function told({ findings }: AuditReport): string[] {
  return findings.map(({ name, actual, detail }) => `${name}: ${detail ?? ''} ${actual}`);
}

const hmac = (body: string | Buffer): string => createHmac('sha256', SECRET).update(body).digest('hex');

const anyText: Partial<Habits> = {
  isSignature: (header) => header !== '',
  equal: (given, expected) => given === expected,
};

/** What findings each fault must give, by the rows of the table; and what the worst of them is. */
const faults: readonly (readonly [fault: string, ids: readonly string[], worst: AuditResult['severity'], RequestListener])[] = [
  [
    'does not verify',
    ['A11', 'A17', 'A18', 'C01', 'C02', 'J02'],
    'critical',
    receiver({ isSignature: () => true, equal: () => true }),
  ],
  [
    'takes everything with 200',
    ['A01', 'A02', 'A06', 'A18', 'C01', 'C10', 'C13', 'D12', 'E01'],
    'critical',
    (req, res) => {
      req.resume().on('end', () => res.end());
    },
  ],
  [
    'verifies only where there is a signature',
    ['A01', 'A02', 'A21', 'A23'],
    'critical',
    (req, res) => {
      const header = req.headers['x-service-signature'];
      if (header === undefined || header === '') req.headers['x-service-signature'] = '0'.repeat(64);
      receiver(header === undefined || header === '' ? { equal: () => true } : {})(req, res);
    },
  ],
  ['runs without a secret', ['H03', 'A17'], 'critical', receiver({ secret: '' })],
  ['has the placeholder of its deployment for a secret', ['H03', 'B04'], 'critical', receiver({ secret: 'undefined' })],
  [
    'has the public secret of the fixtures',
    ['H03', 'B07'],
    'critical',
    receiver({ secret: 'paylink-testing-secret-not-for-production' }),
  ],
  [
    'compares the beginning only',
    ['A18'],
    'critical',
    receiver({ equal: (given, expected) => given.slice(0, 16) === expected.slice(0, 16) }),
  ],
  [
    'compares as much as it is given',
    ['A11'],
    'critical',
    receiver({ ...anyText, equal: (given, expected) => expected.startsWith(given) }),
  ],
  ['takes upper case', ['A06'], 'medium', receiver({ isSignature: (header) => /^[0-9a-f]{64}$/i.test(header) })],
  [
    'trims more than HTTP does, and strips prefixes',
    ['A09', 'A12'],
    'medium',
    receiver({ ...anyText, readHeader: (header) => [header.replace(/^sha256=/, '').trim()] }),
  ],
  ['splits the header on commas', ['A03', 'A04'], 'high', receiver({ ...anyText, readHeader: (header) => header.split(/,\s*/) })],
  [
    'decodes hex and looks at no more than that',
    ['A06', 'A12'],
    'high',
    receiver({
      isSignature: (header) => Buffer.from(header, 'hex').length === 32,
      equal: (given, expected) => Buffer.from(given, 'hex').equals(Buffer.from(expected, 'hex')),
    }),
  ],
  ['fails with 500 on a signature of another length', ['A02', 'A09', 'A11', 'A13'], 'high', receiver({ isSignature: () => true })],
  [
    'decodes the body as text before it verifies',
    ['C01'],
    'critical',
    receiver({
      verified: (raw) => new TextDecoder().decode(raw),
      parse: (raw) => JSON.parse(new TextDecoder().decode(raw)) as unknown,
    }),
  ],
  ['trims the body before it verifies', ['C07', 'C08'], 'critical', receiver({ verified: (raw) => raw.toString().trim() })],
  ['verifies what express.json() made of the body', ['C02', 'C03', 'C08', 'D20'], 'critical', reserializing()],
  [
    'inflates before it verifies',
    ['D12', 'D13'],
    'high',
    receiver({
      codings: ['', 'identity', 'gzip'],
      verified: (raw, { headers }) => (headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw),
      parse: (raw) => JSON.parse(raw[0] === 0x1f ? gunzipSync(raw).toString() : raw.toString()) as unknown,
    }),
  ],
  ['tells what the JSON parser says', ['J10'], 'medium', receiver({ invalid: (error) => (error as Error).message })],
  ['tells its stack', ['J11'], 'medium', receiver({ invalid: (error) => (error as Error).stack! })],
  ['tells the signature that it expected', ['J01', 'J02'], 'critical', receiver({ forged: (reason) => reason })],
  [
    'tells what was wrong with a signature',
    ['J02'],
    'low',
    receiver({ forged: (reason) => (reason === 'malformed' ? reason : 'no match') }),
  ],
  ['accepts before anything is done', ['H03'], 'high', receiver({ acknowledged: 202 })],
  ['has no limit of the body', ['D02', 'D03', 'D05'], 'medium', receiver({ bodyLimit: Number.POSITIVE_INFINITY })],
  ['has a smaller limit than it says', ['D05'], 'medium', receiver({ bodyLimit: BODY_LIMIT - 1 })],
  [
    'looks at the Content-Type',
    ['D20', 'D21'],
    'medium',
    (req, res) => {
      if (req.headers['content-type'] === 'application/json') receiver()(req, res);
      else res.writeHead(415).end();
    },
  ],
  [
    'credits whatever the event is',
    ['E01'],
    'low',
    (req, res) => {
      req.headers['x-service-event'] = 'payment.succeeded';
      receiver()(req, res);
    },
  ],
  [
    'reads the signature from the query too',
    ['A23'],
    'high',
    (req, res) => {
      req.headers['x-service-signature'] ??= new URL(req.url!, 'http://receiver').searchParams.get('signature') ?? undefined;
      receiver()(req, res);
    },
  ],
];

/** The fault that is made most often: every stranger's body is refused, and so is every genuine one with a blank in it. */
function reserializing(): RequestListener {
  const app = express();
  app.use(express.json());
  app.post('/hook', (req, res) => {
    const body = JSON.stringify(req.body);
    res.sendStatus(req.get('x-service-signature') === hmac(body) ? 200 : 401);
  });
  return app as RequestListener;
}

describe('auditReceiver', () => {
  it('finds nothing in a sound receiver that is written by hand', async () => {
    const report = await audit(receiver());
    expect(told(report)).toEqual([]);
    expect(report).toMatchObject({ passed: true, findings: [] });
  }, 30_000);

  it.each(faults)(
    'finds a receiver that %s',
    async (_fault, ids, worst, listener) => {
      const report = await audit(listener);
      const found = new Set(report.findings.map(({ id }) => id));
      expect([...found], told(report).join('\n')).toEqual(expect.arrayContaining([...ids]));
      expect(report.findings[0]!.severity).toBe(worst);
      expect(report.passed).toBe(false);
      for (const { advice, severity, name, id } of report.findings) {
        expect(advice.length).toBeGreaterThan(40);
        expect(severity).toBeDefined();
        expect(name.startsWith(`${id} `)).toBe(true);
      }
      const text = JSON.stringify(report);
      expect(text).not.toContain(SECRET);
      expect(text).not.toMatch(/[0-9a-f]{64}/);
    },
    60_000,
  );
});
