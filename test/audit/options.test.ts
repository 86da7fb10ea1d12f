import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { auditReceiver, type AuditOptions, type AuditResult } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { listen, receiver, SECRET } from './hand-written.js';

const secret = SECRET;
const OF_A_REQUEST: Readonly<Record<string, string>> = { 'X-Tunnel': 'open' };

describe('auditReceiver', () => {
  it('says that nothing listens', async () => {
    const { url, close } = await listen(receiver());
    await close();
    await expect(auditReceiver({ url, secret })).rejects.toThrow(/no connection to http:.*ECONNREFUSED.*nothing listens there/);
  });

  it('says that a name is not known, or that there is no TLS', async () => {
    await expect(auditReceiver({ url: 'http://receiver.invalid/', secret })).rejects.toThrow(/no connection to .*invalid/);
    const { url, close } = await listen(receiver());
    await expect(auditReceiver({ url: url.replace('http:', 'https:'), secret, timeout: 3_000 })).rejects.toThrow(
      /no connection to https/,
    );
    await close();
  });

  it('says that a server answers nothing', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const controller = new AbortController();
    const told: AuditResult[] = [];
    const onResult = (result: AuditResult): void => {
      told.push(result);
      controller.abort(new Error('enough'));
    };
    await expect(auditReceiver({ url, secret, timeout: 200, signal: controller.signal, onResult })).rejects.toThrow('enough');
    expect(told[0]).toMatchObject({ id: 'H03', passed: false, actual: undefined, severity: 'high' });
    expect(told[0]!.advice).toMatch(/no answer in time/);
    silent.close();
  });

  it('judges nothing where the genuine delivery is refused, and names the likeliest reason', async () => {
    const { url, close } = await listen(receiver({ secret: 'the-secret-of-another-endpoint' }));
    const { findings, results, passed } = await auditReceiver({ url, secret, timeout: 2_000 });
    await close();
    expect(passed).toBe(false);
    expect(findings).toMatchObject([{ id: 'H03', actual: 401, severity: 'high' }]);
    expect(findings[0]!.advice).toMatch(/same secret on both sides/);
    const judged = results.filter(({ id, skipped }) => id !== 'H03' && skipped === undefined);
    expect(judged).toEqual([]);
  }, 30_000);

  it('tells each result as it comes, says what it has not tried, and keeps the query of the address to itself', async () => {
    const { url, close } = await listen((req, res) => {
      if (req.url?.includes('key=of-a-gateway') !== true || req.headers['x-tunnel'] !== 'open') res.writeHead(511).end();
      else receiver()(req, res);
    });
    const told: AuditResult[] = [];
    const report = await auditReceiver({
      url: `${url}?key=of-a-gateway`,
      secret,
      requestHeaders: { 'X-Tunnel': 'open' },
      confirm: true,
      timeout: 3_000,
      onResult: (result) => told.push(result),
    });
    await close();
    expect(report.findings).toEqual([]);
    expect(report.url).toBe(url);
    expect(told).toHaveLength(report.results.length);
    const skipped = new Set(report.results.filter((result) => result.skipped !== undefined).map(({ id }) => id));
    expect([...skipped].sort()).toEqual(['A20', 'C24', 'D03', 'D05', 'D22', 'D26', 'E06', 'E07', 'H04']);
  }, 30_000);

  it('claims no 405 of a router that answers other methods with 404', async () => {
    const { url, close } = await listen((req, res) => {
      if (req.method === 'POST') receiver()(req, res);
      else res.writeHead(404, { connection: 'close' }).end();
    });
    const { results } = await auditReceiver({ url, secret, timeout: 3_000 });
    await close();
    const methods = results.filter(({ id }) => id === 'D18');
    expect(methods.map(({ passed, actual }) => [passed, actual])).toEqual(methods.map(() => [true, 404]));
    for (const { name } of methods) expect(name).not.toContain('405');
  }, 30_000);

  it('stops at once when it is told to', async () => {
    const { url, close } = await listen(receiver());
    const controller = new AbortController();
    const audit = auditReceiver({ url, secret, signal: controller.signal, onResult: () => controller.abort(new Error('enough')) });
    await expect(audit).rejects.toThrow('enough');
    await close();
  });

  it.each<[what: string, wrong: Partial<AuditOptions>, message: string]>([
    ['an address that is none', { url: 'receiver' }, 'url'],
    ['an address of another protocol', { url: 'ftp://receiver/' }, 'url'],
    ['a password in the address', { url: 'http://user:hidden-word@127.0.0.1/' }, 'requestHeaders'],
    ['an empty secret', { secret: '' }, 'secret is empty'],
    ['no secret', { secret: undefined as unknown as string }, 'secret must be'],
    ['a time that is none', { timeout: 0 }, 'timeout'],
    ['too many at once', { concurrency: 33 }, 'concurrency'],
    ['headers of a request where their names belong', { headers: OF_A_REQUEST }, 'requestHeaders'],
    ['a header that none can be', { requestHeaders: { 'X-Tunnel': 'a\r\nb' } }, 'requestHeaders'],
  ])('refuses %s, and sends nothing', async (_, wrong, message) => {
    const audit = auditReceiver({ url: 'http://127.0.0.1:9/', secret, ...wrong });
    await expect(audit).rejects.toThrow(TypeError);
    await expect(audit).rejects.toThrow(message);
    await expect(audit).rejects.not.toThrow('hidden-word');
  });
});
