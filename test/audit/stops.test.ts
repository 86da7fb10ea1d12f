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
    [/got 401.* Compare the secrets on both sides/, receiver({ secret: 'of-another-endpoint' })],
    [/got 401.* Compare the secrets on both sides/, silentForForgeries],
    [/got 400.* Forged ones get it too\. .*Compare the secrets/, answering(() => 400)],
    [/got 400.* read its log.* existing one with --reference/, receiver({ credit: () => 400 })],
    [/got 422.* existing one with --reference/, receiver({ credit: () => 422 })],
    [/got 503.* existing one with --reference/, receiver({ credit: () => 503 })],
    [/got 404.* has no route/, answering(() => 404)],
    [/got 405.* exists, but not for POST/, answering(() => 405)],
    [/got 302.* a redirect/, answering(() => 302)],
    [
      /got 500 \(body_consumed\)\. A body parser reads the body before the webhook[^-]*$/,
      (_req, res) => res.writeHead(500).end('{"error":"body_consumed"}'),
    ],
    [/got 415.* rejects the content type/, answering(() => 415)],
    [/got 429.* rate limiter/, answering(() => 429)],
  ] satisfies [RegExp, RequestListener][])(
    'stops within two seconds with a report that says %s',
    async (message, listener) => {
      const report = await audit({ url: await serve(listener), secret });
      expect(report.durationMs).toBeLessThan(2_000);
      expect(report).toMatchObject({ passed: false, complete: false });
      expect(report.stopped?.reason).toBe('refused');
      expect(report.stopped?.message).toMatch(message);
      expect(report.findings.length).toBeGreaterThan(0);
      expect(report.results.length).toBeLessThan(10);
    },
  );

  it('reports an interruption and the finding if it waits for a server that stopped', async () => {
    const stop = new AbortController();
    let requests = 0;
    const url = await serve((_req, res) => {
      requests += 1;
      // After the first two, four probes send three each. The audit sends the others as it waits.
      if (requests > 16) stop.abort();
      if (requests > 2) return void res.destroy();
      res.end();
    });
    const { stopped, findings } = await audit({ url, secret, signal: stop.signal });
    expect(stopped).toMatchObject({ reason: 'interrupted' });
    expect(findings).toMatchObject([{ id: 'H03' }]);
  });

  it('hides a secret and a signature that the server sends back, also in a header that is cut', async () => {
    const mirror: RequestListener = ({ headers }, res) => {
      const signature = String(headers['x-service-signature']);
      const via = `a server with a name of 40 characters ... ${signature.toUpperCase()}`;
      const names = {
        server: signature,
        via,
        'x-powered-by': `a prefix of this header: ${secret}`,
      };
      res.writeHead(400, names).end();
    };
    const { stopped } = await audit({ url: await serve(mirror), secret });
    expect(stopped?.message).toContain('server: [hidden], via: a server');
    expect(stopped?.message).not.toMatch(/[0-9a-f]{16}/i);
    expect(stopped?.message).not.toContain(secret.slice(0, 8));
  });

  it.each([302, 401, 403, 405, 415, 429])(
    'does not ask for another order after a %i',
    async (status) => {
      const { stopped } = await audit({ url: await serve(answering(() => status)), secret });
      expect(stopped?.message).toMatch(/\.$/);
      expect(stopped?.message).not.toContain('--reference');
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
