/** A 429 from the server proves nothing about the receiver behind it. */
import type { RequestListener } from 'node:http';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { describe, expect, it } from 'vitest';
import { BODY_LIMIT, SECRET, receiver, serve } from './hand-written.js';

const LIMITED = 'the server has a rate limit (429)';
const options = { secret: SECRET, bodyLimit: BODY_LIMIT, timeout: 4_000 };

/** A sound receiver behind a limit. */
function behind(isOverLimit: (count: number) => boolean): RequestListener {
  let count = 0;
  return (req, res) => {
    if (!isOverLimit(++count)) return receiver()(req, res);
    req.resume();
    res.writeHead(429, { connection: 'close', 'retry-after': '60' }).end();
  };
}

describe('auditReceiver', () => {
  it.each([
    ['that lasts', (count: number): boolean => count > 20],
    ['on one request of ten', (count: number): boolean => count % 10 === 0],
  ])(
    'reports no finding for a receiver behind a rate limit %s, and counts the unjudged attacks',
    async (_, isOverLimit) => {
      const url = await serve(behind(isOverLimit));
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
    30_000,
  );
});
