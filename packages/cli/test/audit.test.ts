/** The judgements of `paylink audit`. audit.long.test.ts audits whole servers. */
import {
  headerNames,
  materialOf,
  Wire,
  type WireAnswer,
  type WireReply,
} from '@paylink/testing/internal';
import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { attempt, StoppedServing } from '../src/audit/attempt.js';
import { deliverFirst } from '../src/audit/first-delivery.js';
import { leaks } from '../src/audit/leaks.js';
import type { Probe } from '../src/audit/probe.js';
import { LIMITED, reportOf } from '../src/audit/report.js';
import type { AuditResult } from '../src/audit/result.js';
import { replyProbes } from '../src/audit/reply-probes.js';
import { openSession, type AuditSession } from '../src/audit/session.js';
import { loadProbes, slowProbes } from '../src/audit/slow-probes.js';
import { requireAllowedHost } from '../src/receiver/target.js';
import { paylink, SECRET, startHere, words } from './paylink.js';
import { bodyOf, openShop, serve, signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const audit = (args: readonly string[]) => paylink(['audit', ...args], { env });

describe('paylink audit', () => {
  it('stops at once and names the secret if the server has another one', async () => {
    const shop = await openShop();
    const other = words`--secret the-secret-of-another-shop`;
    const { code, stdout } = await audit(words`--to ${shop.url} ${other}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stopped {2}.*secrets on both sides/m);
  });

  it('audits another host only with --allow-host', async () => {
    const other = words`--allow-host other.example`;
    const refused = await audit(words`--to https://shop.example/webhooks ${other}`);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /shop\.example is not this machine[^]*--allow-host shop\.example/,
    );
    const target = { to: new URL('https://shop.example/webhooks'), allowHost: ['shop.example'] };
    expect(() => requireAllowedHost(target, '')).not.toThrow();
  });

  it('sends the --header that a tunnel requires, and does not print it', async () => {
    const shop = await openShop();
    let refused = 0;
    const gate = await serve((req, res) => {
      if (req.headers['x-tunnel'] !== 'opens-the-tunnel') refused += 1;
      res.writeHead(307, { location: shop.url }).end();
    });
    const header = 'X-Tunnel: opens-the-tunnel';
    const { stdout } = await audit(words`--to ${gate} --header ${header} --json`);
    expect(refused).toBe(0);
    expect(stdout).toContain('307');
    expect(stdout).not.toContain('opens-the-tunnel');
  });

  it('exits with 130 and says that its report is incomplete if Ctrl-C ends it', async () => {
    let stop = (): unknown => undefined;
    const url = await serve((_req, res) => {
      res.end();
      stop();
    });
    const running = await startHere(words`audit --to ${url}`, { env });
    stop = running.stop;
    const { code, stdout } = await running.result();
    expect(code).toBe(130);
    expect(stdout).toMatch(/^stopped.*incomplete/m);
  });

  it('exits with 1 and names the address if nothing listens', async () => {
    const result = await audit(words`--to http://127.0.0.1:9/`);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^error: no connection to http:\/\/127\.0\.0\.1:9: nothing listens at 127\.0\.0\.1:9/,
    );
    expect(result.stderr).not.toMatch(/DEBUG|\n {4}at /);
  });
});

const reply = (status: number, body = ''): WireReply => {
  const bytes = Buffer.from(body);
  return { status, headers: new Map(), body, bytes };
};

const names = headerNames();
const material = materialOf({ secret: SECRET, reference: 'order-42', bodyLimit: 65_536, names });

/** A session on a server that gives one answer to each genuine delivery. */
const sessionOn = (genuine: WireAnswer, replies: AuditSession['replies'] = []): AuditSession =>
  ({
    ...{ material, replies, unknownOrder: {}, throwIfEnded: () => undefined },
    ...{ serves: async () => genuine, wait: async () => undefined },
  }) as unknown as AuditSession;

/** Tries a delivery that gets an answer from a server that then serves or not, also at a retry. */
const tried = (
  category: 'genuine' | 'forged',
  answer: WireAnswer,
  genuine: WireAnswer = reply(200),
  later = genuine,
): Promise<AuditResult> => {
  const isGenuine = category === 'genuine';
  const probe: Probe = {
    ...{ id: 'A01', name: 'A01 refuses it', what: 'it', category, severity: 'critical' },
    ...{ expected: [isGenuine ? 200 : 401] },
    fault: isGenuine ? 'refuses_genuine' : 'does_not_verify',
    perform: async () => ({ answer }),
  };
  const answers = [genuine];
  return attempt(probe, { ...sessionOn(later), serves: async () => answers.shift() ?? later });
};

const loadProbe = (wanted: string): Probe => loadProbes.find(({ id }) => id === wanted)!;

const fault = (severity: string, cause: string) => ({ passed: false, severity, cause });
const NOT_JUDGED = { passed: true, skipped: LIMITED };

describe('an audit', () => {
  it.each([
    ['genuine', reply(204), { passed: true }],
    ['genuine', reply(401), fault('critical', 'refuses_genuine')],
    ['genuine', reply(302), fault('critical', 'refuses_genuine')],
    ['genuine', reply(500), fault('critical', 'fails_genuine')],
    ['genuine', 'no answer', fault('critical', 'hangs')],
    ['genuine', reply(429), NOT_JUDGED],
    ['forged', reply(401), { passed: true }],
    ['forged', reply(404), { passed: true }],
    ['forged', reply(202), fault('critical', 'does_not_verify')],
    ['forged', reply(302), fault('low', 'does_not_verify')],
    ['forged', reply(500), fault('medium', 'crashes')],
    ['forged', 'no answer', fault('medium', 'hangs')],
    ['forged', reply(429), NOT_JUDGED],
  ] as const)('judges a %s delivery that gets %o', async (category, answer, verdict) => {
    const result = await tried(category, answer);
    expect(result).toMatchObject(verdict);
    expect(result.skipped).toBe((verdict as { readonly skipped?: string }).skipped);
  });

  it('reports a delivery after which the server stops acknowledging or serving', async () => {
    const stopped = await tried('forged', reply(401), reply(500));
    expect(stopped).toMatchObject(fault('high', 'stops_serving'));
    await expect(tried('forged', reply(401), 'closed')).rejects.toThrow(StoppedServing);
    expect(await tried('forged', reply(401), reply(429))).toMatchObject(NOT_JUDGED);
  });

  it('asks again before it reports that the server stops, because one delivery can fail', async () => {
    expect(await tried('forged', reply(401), 'closed', reply(200))).toMatchObject({ passed: true });
  });

  it('judges no delivery that its own end cut off', async () => {
    const throwIfEnded = (): never => {
      throw new Error('ended');
    };
    const cutOff = { ...loadProbe('D11'), perform: async () => ({ answer: 'closed' }) as const };
    const session = { ...sessionOn('closed'), throwIfEnded };
    await expect(attempt(cutOff, session)).rejects.toThrow('ended');
  });

  it('judges concurrent duplicates by a later one too', async () => {
    const session = {
      ...{ ...sessionOn(reply(409)), exchangeWithin: async () => reply(200) },
      ...{ request: () => Buffer.of(), genuineLines: () => [] },
    } as unknown as AuditSession;
    const duplicates = replyProbes.find(({ id }) => id === 'H02')!;
    expect(await attempt(duplicates, session)).toMatchObject(fault('medium', 'refuses_duplicates'));
  });

  it('waits beside slow senders ten times as long as for the answer before them', async () => {
    const waits: unknown[] = [];
    const session = {
      ...{ ...sessionOn(reply(200)), request: () => Buffer.of(), genuineLines: () => [] },
      open: async () => ({ write: async () => undefined, destroy: () => undefined }),
      serves: async (patience?: number) => {
        waits.push(patience);
        return reply(200);
      },
    } as unknown as AuditSession;
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(2_000);
    onTestFinished(() => now.mockRestore());
    expect(await loadProbe('D11').perform(session)).toMatchObject({ answer: { status: 200 } });
    expect(waits).toEqual([undefined, 20_000]);
  });

  const result = { id: 'A01', name: 'A01', expected: [401] };
  const right: AuditResult = { ...result, passed: true, actual: 401 };
  const accepts = (what: string): AuditResult => ({
    ...{ ...result, what, title: `accepted ${what}`, passed: false, actual: 200 },
    ...{ severity: 'critical', cause: 'does_not_verify' },
  });
  const reportOn = (...parts: [results: AuditResult[], stopped?: true]) =>
    reportOf({
      url: new URL('http://shop.example/hook?key=a-key-of-a-gateway'),
      ...{ results: parts[0], replies: [], started: performance.now() },
      stopped: parts[1] && { reason: 'interrupted', message: 'ended early' },
    });

  it('passes only if it is complete and has no finding, and keeps the query to itself', () => {
    expect(reportOn([right])).toMatchObject({ passed: true, complete: true, notJudged: [] });
    expect(reportOn([right], true)).toMatchObject({ passed: false, complete: false });
    const limited = reportOn([right, { ...right, skipped: LIMITED }]);
    expect(limited).toMatchObject({ passed: false, complete: false });
    expect(limited.notJudged).toEqual([expect.stringMatching(/^1 attacks: .*429/)]);
    expect(reportOn([right, accepts('it')])).toMatchObject({ passed: false, complete: true });
    expect(JSON.stringify(limited)).not.toContain('a-key');
  });

  it('names one cause for all forgeries that a server accepts', () => {
    const forgeries = ['a signature of zeros', 'a signature made with another secret', 'a third'];
    const { causes } = reportOn(forgeries.map(accepts));
    expect(causes).toMatchObject([{ id: 'does_not_verify', severity: 'critical', symptoms: 3 }]);
  });

  /** A receiver that makes every fault that the probes of replies and of slow bodies look for. */
  async function openCarelessShop(): Promise<string> {
    const seen = new Set<string>();
    return serve(async (req, res) => {
      const body = (await bodyOf(req).catch(() => '')).toString();
      const { 'x-service-signature': signature } = req.headers;
      if (!body.startsWith('{"reference":"')) return res.writeHead(400).end(`no JSON: ${body}`);
      if (signature !== signatureOf(body))
        return res.writeHead(401).end(`got ${String(signature)}`);
      res.writeHead(seen.has(body) ? 409 : 200).end();
      return seen.add(body);
    });
  }

  it.each([
    [
      'every fault of a careless receiver',
      openCarelessShop,
      'H01 refuses_duplicates, H02 refuses_duplicates, F01 parses_first, J02 tells_reason, ' +
        'J10 quotes_body, D06 no_deadline, D10 no_deadline',
    ],
    ['no fault of Paylink', async () => (await openShop()).url, ''],
  ])('finds %s in replies, to duplicates and to slow bodies', async (_, open, faults) => {
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const target = { url: new URL(await open()), timeout: faults === '' ? 5_000 : 300, signal };
    const session = openSession(target, material, {});
    const found: string[] = [];
    for (const probe of [...replyProbes, ...slowProbes]) {
      const { id, cause, passed } = await attempt(probe, session);
      if (!passed) found.push(`${id} ${cause!}`);
    }
    expect(found.join(', ')).toBe(faults);
  });

  it('stops a slow sender as soon as the server answers, long before the time limit', async () => {
    // The server answers without the rest of the body, and leaves the connection open.
    const headers = { connection: 'keep-alive' };
    const url = new URL(await serve((_req, res) => void res.writeHead(400, headers).end()));
    const { signal } = new AbortController();
    const session = openSession({ url, timeout: 100_000, signal }, material, {});
    for (const { perform } of slowProbes)
      expect(await perform(session)).toMatchObject({ answer: { status: 400 } });
  });

  it('ends an endless upload to a server that reads none of it, soon after the time limit', async () => {
    const url = new URL(await serve((req) => void req.pause()));
    const { signal } = new AbortController();
    const session = openSession({ url, timeout: 100, signal }, material, {});
    const answer = vi.spyOn(Wire.prototype, 'answer');
    onTestFinished(() => answer.mockRestore());
    expect(await loadProbe('D02').perform(session)).toMatchObject({ answer: 'no answer' });
    expect(answer).toHaveBeenLastCalledWith('POST', 100);
  });

  it.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])(
    'names a fix for a connection that ends with %s',
    async (code) => {
      const session = {
        ...{ ...sessionOn('closed'), url: new URL('http://shop.example/') },
        open: () => Promise.reject(Object.assign(new Error('no connection'), { code })),
      } as unknown as AuditSession;
      await expect(deliverFirst(session, 100)).rejects.toThrow(
        /^no connection to http:\/\/shop\.example: shop\.example does not answer: .* firewall/,
      );
    },
  );

  it('waits for the first delivery only as long as the connection has left of the limit', async () => {
    let limit = Infinity;
    const session = {
      ...{ ...sessionOn('closed'), url: new URL('http://shop.example/') },
      async open() {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return { destroy: () => undefined };
      },
      async firstAnswer(milliseconds: number) {
        limit = milliseconds;
        return reply(200);
      },
    } as unknown as AuditSession;
    await deliverFirst(session, 10_000);
    expect(limit).toBeLessThan(9_950);
  });

  it.each([
    ['J01', 'the secret', SECRET],
    ['J01', 'the signature', material.signature],
    ['J11', 'a stack trace', 'Error: no\n    at handler (/srv/shop/index.js:7:3)'],
    ['none', 'an error', '{"error":"invalid_signature"}'],
  ])('finds by %s that a reply holds %s', (id, _, body) => {
    const found = leaks(sessionOn(reply(200), [{ to: 'A01', reply: reply(400, body) }]));
    const failed = found.filter(({ passed }) => !passed).map((each) => each.id);
    expect(failed).toEqual(id === 'none' ? [] : [id]);
  });

  it('finds a secret in a header of a reply', () => {
    const bytes = Buffer.from(`HTTP/1.1 400 Bad Request\r\nX-Key: ${SECRET}\r\n\r\n`);
    const found = leaks(sessionOn(reply(200), [{ to: 'A01', reply: { ...reply(400), bytes } }]));
    expect(found.map(({ passed }) => passed)).toContain(false);
  });
});
