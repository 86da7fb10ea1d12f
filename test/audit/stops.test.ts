/** Checks the time until an audit reports that it cannot run. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answering, receiver, SECRET, serve } from './hand-written.js';
import { auditInVirtualTime as audit } from './audits.js';

const secret = SECRET;

const silentForForgeries: RequestListener = ({ headers }, res) => {
  const signature = headers['x-service-signature'];
  if (signature !== undefined && !/^0+$/.test(String(signature))) res.writeHead(401).end();
};

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

  it.each([
    ['wrong_secret', /the header names on both/, receiver({ secret: 'of-another-endpoint' })],
    ['wrong_secret', /the header names on both sides/, silentForForgeries],
    ['wrong_secret', /like a forged delivery \(400\).*header names/, answering(() => 400)],
    ['unknown_reference', /verified .*, but rejected it/, receiver({ credit: () => 400 })],
    ['unknown_reference', /knows the order/, receiver({ credit: () => 422 })],
    ['unknown_reference', /knows the order/, receiver({ credit: () => 503 })],
    ['no_route', /no route for POST/, answering(() => 404)],
    ['no_route', /exists, but not for POST/, answering(() => 405)],
    ['refused', /follows redirects: use the target address/, answering(() => 302)],
    [
      'refused',
      /A body parser read the body before the webhook/,
      (_req, res) => res.writeHead(500).end('{"error":"body_consumed"}'),
    ],
    ['refused', /the type of a genuine delivery \(415\)/, answering(() => 415)],
    ['refused', /has a rate limit \(429\)/, answering(() => 429)],
  ] satisfies [string, RegExp, RequestListener][])(
    'stops within two seconds with %s and a report that says %s',
    async (reason, message, listener) => {
      const report = await audit({ url: await serve(listener), secret });
      expect(report.durationMs).toBeLessThan(2_000);
      expect(report).toMatchObject({ passed: false, complete: false });
      expect(report.stopped?.reason).toBe(reason);
      expect(report.stopped?.message).toMatch(message);
      expect(report.findings.length).toBeGreaterThan(0);
      expect(report.results.length).toBeLessThan(10);
    },
  );

  it('reports a forgery that the server accepts although it rejects genuine deliveries', async () => {
    const backwards: RequestListener = ({ headers }, res) =>
      res.writeHead(headers['x-service-signature'] === undefined ? 200 : 401).end();
    const { findings } = await audit({ url: await serve(backwards), secret });
    const titles = findings.map(({ title }) => title);
    expect(titles).toContain('accepted a delivery without a signature');
  });
});
