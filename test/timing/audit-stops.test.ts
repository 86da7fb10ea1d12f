/** How soon an audit that cannot be held says so. Alone, since what runs beside it would be measured too. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { auditReceiver } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { listen, receiver, SECRET } from '../audit/hand-written.js';

const secret = SECRET;

describe('auditReceiver', () => {
  it('says within two seconds that a server answers nothing, and stops', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const { findings, stopped, complete, durationMs } = await auditReceiver({ url, secret });
    expect(durationMs).toBeLessThan(2_500);
    expect(findings).toMatchObject([{ id: 'H03', actual: undefined, severity: 'high' }]);
    expect(stopped).toMatchObject({ reason: 'no_answer', message: expect.stringMatching(/no answer in 1\.5 s/) as string });
    expect(complete).toBe(false);
    silent.close();
  });

  it('says within two seconds that a secret is wrong, also to a receiver that leaves forged deliveries without an answer', async () => {
    const { url, close } = await listen((req, res) => {
      if (req.headers['x-service-signature'] === undefined || /^0+$/.test(String(req.headers['x-service-signature']))) return;
      res.writeHead(401).end();
    });
    const { stopped, durationMs } = await auditReceiver({ url, secret });
    await close();
    expect(stopped).toMatchObject({ reason: 'wrong_secret' });
    expect(durationMs).toBeLessThan(2_500);
  });

  it.each([
    ['wrong_secret', { secret: 'the-secret-of-another-endpoint' }, {}, /same secret on both sides/],
    ['unknown_reference', { credit: (): number => 503 }, {}, /know the order of the reference/],
    ['unknown_reference', { credit: (): number => 422 }, {}, /know the order of the reference/],
    ['unknown_reference', {}, { credits: () => 0 }, /was not credited/],
  ] as const)('stops within two seconds with %s (%#), and says what it knows', async (reason, habits, options, message) => {
    const { url, close } = await listen(receiver(habits));
    const started = performance.now();
    const report = await auditReceiver({ url, secret, ...options });
    expect(performance.now() - started).toBeLessThan(2_500);
    await close();
    expect(report.stopped).toMatchObject({ reason, message: expect.stringMatching(message) as string });
    expect(report).toMatchObject({ passed: false, complete: false });
    expect(report.findings.length).toBeGreaterThan(0);
    expect(report.results.length).toBeLessThan(10);
  });
});
