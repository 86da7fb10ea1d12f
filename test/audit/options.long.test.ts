import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { describe, expect, it } from 'vitest';
import { auditUntil } from './audits.js';
import { SECRET, receiver, serve } from './hand-written.js';

const secret = SECRET;

describe('auditReceiver', () => {
  it('rejects if the server has no TLS', async () => {
    const url = await serve(receiver());
    await expect(
      auditReceiver({ url: url.replace('http:', 'https:'), secret, timeout: 3_000 }),
    ).rejects.toThrow(/no connection to https/);
  });

  it('waits for the first answer as long as firstAnswer', async () => {
    const url = await serve((req, res) => {
      setTimeout(() => receiver()(req, res), 1_700);
    });
    const { results } = await auditUntil(() => true, { url, firstAnswer: 20_000 });
    expect(results[0]).toMatchObject({ id: 'H03', passed: true });
  });

  it.each([
    [201, []],
    [202, [expect.stringContaining('202 is right only if the event survives a crash')]],
    [204, []],
  ])('accepts %i as an acknowledgement', async (acknowledged, notes) => {
    const url = await serve(receiver({ credit: () => acknowledged }));
    const report = await auditUntil(() => true, { url });
    expect(report.findings).toEqual([]);
    expect(report.results[0]).toMatchObject({ id: 'H03', passed: true, actual: acknowledged });
    expect(report.notes.map(({ note }) => note)).toEqual(notes);
  });

  it('sends one Host header, from requestHeaders if they have one', async () => {
    const hosts: string[][] = [];
    const url = await serve((req, res) => {
      hosts.push(
        req.rawHeaders.filter((_, index) => req.rawHeaders[index - 1]?.toLowerCase() === 'host'),
      );
      receiver()(req, res);
    });
    for (const requestHeaders of [{ host: 'shop.example' }, {}])
      await auditUntil(() => true, { url, requestHeaders });
    expect(hosts[0]).toEqual(['shop.example']);
    expect(hosts.at(-1)).toEqual([new URL(url).host]);
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
      onProgress: ({ name }) => ended.push(name),
    });
    const encoded = (names: readonly string[]): string[] =>
      names.flatMap((name) => /a body in (gzip|br) under/.exec(name)?.[1] ?? []);
    expect(encoded(ended)).toEqual(['br', 'gzip']);
    expect(encoded(report.results.map(({ name }) => name))).toEqual(['gzip', 'br']);
  });

  it('returns a partial report if `signal` is aborted', async () => {
    const url = await serve(receiver());
    const report = await auditUntil(({ done, total }) => done === 20 && total > 150, { url });
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
    const { stopped } = await auditReceiver({ url, secret, onProgress: note });
    isResolved = true;
    expect(stopped).toMatchObject({ reason: 'stopped_serving' });
    expect(held).toHaveLength(2);
    for (const answer of held) answer();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(late).toEqual([]);
  });

  it('calls onProgress for each result, and hides the query of the URL', async () => {
    const url = await serve((req, res) => {
      if (req.url?.includes('key=of-a-gateway') !== true || req.headers['x-tunnel'] !== 'open')
        res.writeHead(511).end();
      else receiver()(req, res);
    });
    const seen: string[] = [];
    const report = await auditReceiver({
      url: `${url}?key=of-a-gateway`,
      secret,
      requestHeaders: { 'X-Tunnel': 'open' },
      timeout: 3_000,
      onProgress: ({ name }) => seen.push(name),
    });
    expect(report.findings).toEqual([]);
    expect(report.url).toBe(url);
    expect(seen).toHaveLength(report.results.length);
  });

  it('accepts a router that answers other methods with 404', async () => {
    const url = await serve((req, res) => {
      if (req.method === 'POST') receiver()(req, res);
      else res.writeHead(404, { connection: 'close' }).end();
    });
    const { results } = await auditReceiver({ url, secret, timeout: 3_000 });
    const methods = results.filter(({ id }) => id === 'D18');
    expect(methods.map(({ passed, actual }) => [passed, actual])).toEqual(
      methods.map(() => [true, 404]),
    );
    for (const { name } of methods) expect(name).not.toContain('405');
  });
});
