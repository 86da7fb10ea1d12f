/** Checks the time until an audit reports that it cannot run. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, receiver, SECRET, serve } from './hand-written.js';
import { auditInVirtualTime as audit } from './virtual-time.js';

const secret = SECRET;

describe('auditReceiver', () => {
  it('stops within two seconds if the server answers nothing', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const { findings, stopped, complete, durationMs } = await audit({ url, secret });
    expect(durationMs).toBeLessThan(2_000);
    expect(findings).toMatchObject([{ id: 'H03', actual: undefined, severity: 'high' }]);
    expect(stopped).toMatchObject({
      reason: 'no_answer',
      message: expect.stringMatching(/did not reply within 1\.5 s/) as string,
    });
    expect(complete).toBe(false);
    silent.close();
  });

  it('reports a wrong secret within two seconds, even if forged deliveries get no answer', async () => {
    const url = await serve((req, res) => {
      if (
        req.headers['x-service-signature'] === undefined ||
        /^0+$/.test(String(req.headers['x-service-signature']))
      )
        return;
      res.writeHead(401).end();
    });
    const { stopped, durationMs } = await audit({ url, secret });
    expect(stopped).toMatchObject({ reason: 'wrong_secret' });
    expect(durationMs).toBeLessThan(2_000);
  });

  it.each([
    [
      'wrong_secret',
      { secret: 'the-secret-of-another-endpoint' },
      {},
      /secrets and the header names on both sides/,
    ],
    ['unknown_reference', { credit: (): number => 503 }, {}, /knows the order/],
    ['unknown_reference', { credit: (): number => 422 }, {}, /knows the order/],
  ] as const)(
    'stops within two seconds with %s and a report (case %#)',
    async (reason, habits, options, message) => {
      const url = await serve(receiver(habits));
      const report = await audit({ url, secret, ...options });
      expect(report.durationMs).toBeLessThan(2_000);
      expect(report.stopped).toMatchObject({
        reason,
        message: expect.stringMatching(message) as string,
      });
      expect(report).toMatchObject({ passed: false, complete: false });
      expect(report.findings.length).toBeGreaterThan(0);
      expect(report.results.length).toBeLessThan(10);
    },
  );

  it.each([
    [
      'wrong_secret',
      answering(() => 400),
      /rejected a genuine delivery like a forged delivery \(400\).*secrets and the header names on both sides/,
    ],
    [
      'unknown_reference',
      receiver({ credit: () => 400 }),
      /verified a genuine delivery, but rejected it/,
    ],
    ['refused', answering(() => 415), /rejected the type of a genuine delivery \(415\)/],
    ['refused', answering(() => 429), /has a rate limit \(429\)/],
  ] as const)(
    'stops with %s at an ambiguous refusal (case %#)',
    async (reason, listener, message) => {
      const url = await serve(listener);
      const { stopped, durationMs } = await audit({ url, secret });
      expect(stopped).toMatchObject({ reason, message: expect.stringMatching(message) as string });
      expect(durationMs).toBeLessThan(2_000);
    },
  );
});
