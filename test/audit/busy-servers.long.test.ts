/** A slow machine is not a fault of the receiver, and a rate limit hides the receiver behind it. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { describe, expect, it } from 'vitest';
import { holdLimits } from '../adapters/held-limits.js';
import { BODY_LIMIT, SECRET, receiver, serve } from './hand-written.js';

/** Milliseconds that an audit waits for an answer. */
const PATIENCE = 5_000;
const LIMITED = 'the server has a rate limit (429)';
const options = { secret: SECRET, bodyLimit: BODY_LIMIT, timeout: 4_000 };

const isLong = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > 10_000;

/** A sound receiver that answers some requests with this status. */
function behind(status: number, isRefused: (count: number) => boolean): RequestListener {
  let count = 0;
  return (req, res) => {
    if (!isRefused(++count)) return receiver()(req, res);
    req.resume();
    res.writeHead(status, { connection: 'close' }).end();
  };
}

describe('auditReceiver', () => {
  it('reports no finding for late answers in the order of requests', async () => {
    using limits = holdLimits(PATIENCE);
    let waiting = (): void => undefined;
    let [count, late] = [0, 0];
    const url = await serve((req: IncomingMessage, res: ServerResponse) => {
      waiting();
      waiting = () => undefined;
      // A slow sender has no answer that could be late.
      if (isLong(req) || ++count % 20 !== 0) return receiver()(req, res);
      waiting = () => receiver()(req, res);
      late += 1;
      void limits.running(PATIENCE, 1).then(() => limits.pass(PATIENCE));
    });
    const { findings, notes, complete } = await auditReceiver({ ...options, url });
    expect({ findings, notes, complete }).toEqual({ findings: [], notes: [], complete: true });
    expect(late).toBeGreaterThan(10);
  });

  it('sends a delivery again if a busy receiver answers 408', async () => {
    const url = await serve(behind(408, (count) => count % 10 === 0));
    const { findings, complete } = await auditReceiver({ ...options, url });
    expect({ findings, complete }).toEqual({ findings: [], complete: true });
  });

  it.each([
    ['that lasts', (count: number): boolean => count > 20],
    ['on one request of ten', (count: number): boolean => count % 10 === 0],
  ])(
    'reports no finding for a receiver behind a rate limit %s, and counts the unjudged attacks',
    async (_, isOverLimit) => {
      const url = await serve(behind(429, isOverLimit));
      const report = await auditReceiver({ ...options, url });
      expect(report.findings).toEqual([]);
      expect(report).toMatchObject({ passed: false, complete: false });
      expect(report.stopped).toBeUndefined();
      const limited = report.results.filter(({ skipped }) => skipped === LIMITED);
      expect(limited.length).toBeGreaterThan(10);
      expect(
        report.results.filter(({ actual, skipped }) => actual === 429 && skipped !== LIMITED),
      ).toEqual([]);
      expect(report.notJudged).toContainEqual(
        expect.stringMatching(new RegExp(`^${limited.length} attacks: .*429`)),
      );
    },
  );
});
