import { createHmac } from 'node:crypto';
import { auditReceiver, type AuditReport } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { SECRET, listen, receiver, serve } from './hand-written.js';

const secret = SECRET;
const OF_A_REQUEST: Readonly<Record<string, string>> = { 'X-Tunnel': 'open' };

describe('auditReceiver', () => {
  it('refuses an unknown option and lists the valid options', async () => {
    const options = { url: 'http://127.0.0.1:1/', secret, references: ['order-1'] };
    await expect(auditReceiver(options)).rejects.toThrow(
      /^references is an unknown option\. Valid options: url, secret, reference,/,
    );
  });

  it('rejects if nothing listens', async () => {
    const { url, close } = await listen(receiver());
    await close();
    await expect(auditReceiver({ url, secret })).rejects.toThrow(
      /no connection to http:.*ECONNREFUSED.*nothing listens there/,
    );
  });

  it('rejects if the name is unknown or the server has no TLS', async () => {
    await expect(auditReceiver({ url: 'http://receiver.invalid/', secret })).rejects.toThrow(
      /no connection to .*invalid/,
    );
    const url = await serve(receiver());
    await expect(
      auditReceiver({ url: url.replace('http:', 'https:'), secret, timeout: 3_000 }),
    ).rejects.toThrow(/no connection to https/);
  });

  it('waits for the first answer as long as firstAnswer', async () => {
    const url = await serve((req, res) => {
      setTimeout(() => receiver()(req, res), 1_700);
    });
    const controller = new AbortController();
    const onResult = (): void => controller.abort();
    const { results } = await auditReceiver({
      url,
      secret,
      firstAnswer: 20_000,
      signal: controller.signal,
      onResult,
    });
    expect(results[0]).toMatchObject({ id: 'H03', passed: true });
  });

  it.each([
    [201, []],
    [
      202,
      [
        'answered 202 to a genuine delivery: 202 is right only if the event survives a crash until its credit',
      ],
    ],
    [204, []],
  ])('accepts %i as an acknowledgement', async (acknowledged, words) => {
    const url = await serve(receiver({ acknowledged }));
    const controller = new AbortController();
    const report = await auditReceiver({
      url,
      secret,
      signal: controller.signal,
      onResult: () => controller.abort(),
    });
    expect(report.findings).toEqual([]);
    expect(report.results[0]).toMatchObject({ id: 'H03', passed: true, actual: acknowledged });
    expect(report.notes.map(({ note }) => note)).toEqual(words);
  });

  it('lists results in a fixed order, not in the order of answers', async () => {
    const correct = receiver();
    const url = await serve((req, res) => {
      setTimeout(() => correct(req, res), req.headers['content-encoding'] === 'gzip' ? 300 : 0);
    });
    const ended: string[] = [];
    const report = await auditReceiver({
      url,
      secret,
      concurrency: 8,
      onResult: ({ name }) => ended.push(name),
    });
    const encoded = (names: readonly string[]): string[] =>
      names.flatMap((name) => /a body in (gzip|br) under/.exec(name)?.[1] ?? []);
    expect(encoded(ended)).toEqual(['br', 'gzip']);
    expect(encoded(report.results.map(({ name }) => name))).toEqual(['gzip', 'br']);
  });

  it('returns a partial report if `signal` is aborted', async () => {
    const url = await serve(receiver());
    const controller = new AbortController();
    const onProgress = ({ done, total }: { done: number; total: number }): void => {
      expect(total).toBeGreaterThan(150);
      if (done === 20) controller.abort();
    };
    const report = await auditReceiver({ url, secret, signal: controller.signal, onProgress });
    expect(report).toMatchObject({
      complete: false,
      passed: false,
      stopped: { reason: 'interrupted' },
    });
    expect(report.results.length).toBeGreaterThanOrEqual(20);
    expect(report.results.length).toBeLessThan(60);
  });

  it('reports no finding if `signal` is aborted during a request', async () => {
    let stop = new AbortController();
    let left = 0;
    const url = await serve((req, res) => {
      if (--left === 0) stop.abort();
      if (left > 0) receiver()(req, res);
    });
    for (const request of [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]) {
      [stop, left] = [new AbortController(), request];
      const { stopped, findings } = await auditReceiver({ url, secret, signal: stop.signal });
      expect({ request, reason: stopped?.reason, findings }).toEqual({
        request,
        reason: 'interrupted',
        findings: [],
      });
    }
  });

  it('calls no callback after it resolves, even if the server stopped during probes', async () => {
    let count = 0;
    const held: (() => void)[] = [];
    const url = await serve((req, res) => {
      if (++count < 40) receiver()(req, res);
      // Two requests hang while the connections of others break.
      else if (count < 42) held.push(() => res.end());
      else req.socket.destroy();
    });
    let isResolved = false;
    const late: string[] = [];
    const note = ({ name }: { readonly name: string }): void => {
      if (isResolved) late.push(name);
    };
    const { stopped } = await auditReceiver({ url, secret, onResult: note, onProgress: note });
    isResolved = true;
    expect(stopped).toMatchObject({ reason: 'stopped_serving' });
    expect(held).toHaveLength(2);
    for (const answer of held) answer();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(late).toEqual([]);
  });

  it('calls onResult for each result, and hides the query of the URL', async () => {
    const url = await serve((req, res) => {
      if (req.url?.includes('key=of-a-gateway') !== true || req.headers['x-tunnel'] !== 'open')
        res.writeHead(511).end();
      else receiver()(req, res);
    });
    const seen: AuditReport['results'][number][] = [];
    const report = await auditReceiver({
      url: `${url}?key=of-a-gateway`,
      secret,
      requestHeaders: { 'X-Tunnel': 'open' },
      timeout: 3_000,
      onResult: (result) => seen.push(result),
    });
    expect(report.findings).toEqual([]);
    expect(report.url).toBe(url);
    expect(seen).toHaveLength(report.results.length);
  }, 30_000);

  it('signs by `sign` for a receiver of another scheme', async () => {
    const url = await serve((req, res) => {
      const { 'x-hub-signature-256': given = '' } = req.headers;
      req.headers['x-service-signature'] = String(given).replace(/^sha256=(?=[0-9a-f]{64}$)/, '');
      if (!String(given).startsWith('sha256=')) req.headers['x-service-signature'] = 'none';
      receiver()(req, res);
    });
    const { results, findings } = await auditReceiver({
      url,
      secret,
      sign: (rawBody, key) => `sha256=${createHmac('sha256', key).update(rawBody).digest('hex')}`,
      headers: { signature: 'x-hub-signature-256' },
      timeout: 3_000,
    });
    expect(findings).toEqual([]);
    expect(results.length).toBeGreaterThan(100);
  }, 30_000);

  it('accepts a router that answers other methods with 404', async () => {
    const { url, close } = await listen((req, res) => {
      if (req.method === 'POST') receiver()(req, res);
      else res.writeHead(404, { connection: 'close' }).end();
    });
    const { results } = await auditReceiver({ url, secret, timeout: 3_000 });
    await close();
    const methods = results.filter(({ id }) => id === 'D18');
    expect(methods.map(({ passed, actual }) => [passed, actual])).toEqual(
      methods.map(() => [true, 404]),
    );
    for (const { name } of methods) expect(name).not.toContain('405');
  }, 30_000);

  it.each<[what: string, wrong: Partial<Parameters<typeof auditReceiver>[0]>, message: string]>([
    ['a url that is not a URL', { url: 'receiver' }, 'url'],
    ['a url of another protocol', { url: 'ftp://receiver/' }, 'url'],
    ['a url with a password', { url: 'http://user:hidden-word@127.0.0.1/' }, 'requestHeaders'],
    ['an empty secret', { secret: '' }, 'secret is empty'],
    ['a missing secret', { secret: undefined as unknown as string }, 'secret must be'],
    ['a timeout of 0', { timeout: 0 }, 'timeout'],
    ['a firstAnswer of 0', { firstAnswer: 0 }, 'firstAnswer'],
    ['a concurrency over 32', { concurrency: 33 }, 'concurrency'],
    ['request headers instead of header names', { headers: OF_A_REQUEST }, 'requestHeaders'],
    ['a header with a line break', { requestHeaders: { 'X-Tunnel': 'a\r\nb' } }, 'requestHeaders'],
  ])('refuses %s and sends nothing', async (_, wrong, message) => {
    const audit = auditReceiver({ url: 'http://127.0.0.1:9/', secret, ...wrong });
    await expect(audit).rejects.toThrow(TypeError);
    await expect(audit).rejects.toThrow(message);
    await expect(audit).rejects.not.toThrow('hidden-word');
  });
});
