import { auditReceiver, type AuditOptions, type AuditResult } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { listen, receiver, SECRET } from './hand-written.js';

const secret = SECRET;
const OF_A_REQUEST: Readonly<Record<string, string>> = { 'X-Tunnel': 'open' };

describe('auditReceiver', () => {
  it('refuses an option that it does not have, and lists those that it has', async () => {
    const options = { url: 'http://127.0.0.1:1/', secret, references: ['order-1'] };
    await expect(auditReceiver(options)).rejects.toThrow(
      /^references is an unknown option\. Valid options: url, secret, reference,/,
    );
  });

  it('says that nothing listens', async () => {
    const { url, close } = await listen(receiver());
    await close();
    await expect(auditReceiver({ url, secret })).rejects.toThrow(
      /no connection to http:.*ECONNREFUSED.*nothing listens there/,
    );
  });

  it('says that a name is not known, or that there is no TLS', async () => {
    await expect(auditReceiver({ url: 'http://receiver.invalid/', secret })).rejects.toThrow(
      /no connection to .*invalid/,
    );
    const { url, close } = await listen(receiver());
    await expect(
      auditReceiver({ url: url.replace('http:', 'https:'), secret, timeout: 3_000 }),
    ).rejects.toThrow(/no connection to https/);
    await close();
  });

  it('waits longer for the first answer where the option says so', async () => {
    const { url, close } = await listen((req, res) => {
      setTimeout(() => receiver()(req, res), 1_700);
    });
    const controller = new AbortController();
    const onResult = (): void => controller.abort();
    const { results } = await auditReceiver({
      url,
      secret,
      firstAnswer: 20_000,
      stop: controller.signal,
      onResult,
    });
    await close();
    expect(results[0]).toMatchObject({ id: 'H03', passed: true });
  });

  it.each([
    [201, []],
    [
      202,
      [
        'answered 202 to a genuine delivery: that is right only if the event survives a crash until it is credited',
      ],
    ],
    [204, []],
  ])('takes %i for an acknowledgement', async (acknowledged, words) => {
    const { url, close } = await listen(receiver({ acknowledged }));
    const controller = new AbortController();
    const report = await auditReceiver({
      url,
      secret,
      stop: controller.signal,
      onResult: () => controller.abort(),
    });
    await close();
    expect(report.findings).toEqual([]);
    expect(report.results[0]).toMatchObject({ id: 'H03', passed: true, actual: acknowledged });
    expect(report.notes.map(({ note }) => note)).toEqual(words);
  });

  it('lists what it tried in one order, whichever answer comes first', async () => {
    const correct = receiver();
    const { url, close } = await listen((req, res) => {
      setTimeout(() => correct(req, res), req.headers['content-encoding'] === 'gzip' ? 300 : 0);
    });
    const ended: string[] = [];
    const report = await auditReceiver({
      url,
      secret,
      concurrency: 8,
      onResult: ({ name }) => ended.push(name),
    });
    await close();
    const encoded = (names: readonly string[]): string[] =>
      names.flatMap((name) => /a body in (gzip|br) under/.exec(name)?.[1] ?? []);
    expect(encoded(ended)).toEqual(['br', 'gzip']);
    expect(encoded(report.results.map(({ name }) => name))).toEqual(['gzip', 'br']);
  });

  it('gives a report of what is known when its "stop" is aborted', async () => {
    const { url, close } = await listen(receiver());
    const controller = new AbortController();
    const onProgress = ({ done, total }: { done: number; total: number }): void => {
      expect(total).toBeGreaterThan(150);
      if (done === 20) controller.abort();
    };
    const report = await auditReceiver({ url, secret, stop: controller.signal, onProgress });
    await close();
    expect(report).toMatchObject({
      complete: false,
      passed: false,
      stopped: { reason: 'interrupted' },
    });
    expect(report.results.length).toBeGreaterThanOrEqual(20);
    expect(report.results.length).toBeLessThan(60);
  });

  it('holds nothing against the server that came of its "stop", whatever is under way then', async () => {
    let stop = new AbortController();
    let left = 0;
    const { url, close } = await listen((req, res) => {
      if (--left === 0) stop.abort();
      if (left > 0) receiver()(req, res);
    });
    for (const request of [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]) {
      [stop, left] = [new AbortController(), request];
      const { stopped, findings } = await auditReceiver({ url, secret, stop: stop.signal });
      expect({ request, reason: stopped?.reason, findings }).toEqual({
        request,
        reason: 'interrupted',
        findings: [],
      });
    }
    await close();
  });

  it('calls nothing back once it has resolved, though probes were under way when the server stopped serving', async () => {
    let count = 0;
    const held: (() => void)[] = [];
    const { url, close } = await listen((req, res) => {
      if (++count < 40) receiver()(req, res);
      // Two that hang beside others whose connections break.
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
    await close();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(late).toEqual([]);
  });

  it('says what could not be judged without credits', async () => {
    const { url, close } = await listen(receiver());
    const { notJudged, notes, passed } = await auditReceiver({ url, secret, timeout: 4_000 });
    await close();
    expect(passed).toBe(true);
    expect(notJudged.join()).toMatch(/credited once.*payment is lost/);
    expect(notes).toEqual([]);
  }, 30_000);

  it('says that the merchant’s side gives no number of credits', async () => {
    const { url, close } = await listen(receiver());
    await expect(auditReceiver({ url, secret, credits: () => Number.NaN })).rejects.toThrow(
      /credits must give how often/,
    );
    await expect(
      auditReceiver({ url, secret, credits: () => Promise.reject(new Error('no books')) }),
    ).rejects.toThrow('no books');
    await close();
  });

  it('reports each result as it comes, says what it has not tried, and leaves the query of the address out', async () => {
    const { url, close } = await listen((req, res) => {
      if (req.url?.includes('key=of-a-gateway') !== true || req.headers['x-tunnel'] !== 'open')
        res.writeHead(511).end();
      else receiver()(req, res);
    });
    const seen: AuditResult[] = [];
    const report = await auditReceiver({
      url: `${url}?key=of-a-gateway`,
      secret,
      requestHeaders: { 'X-Tunnel': 'open' },
      confirm: true,
      timeout: 3_000,
      onResult: (result) => seen.push(result),
    });
    await close();
    expect(report.findings).toEqual([]);
    expect(report.url).toBe(url);
    expect(seen).toHaveLength(report.results.length);
    const skipped = new Set(
      report.results.filter((result) => result.skipped !== undefined).map(({ id }) => id),
    );
    expect([...skipped].sort()).toEqual([
      'A20',
      'C24',
      'D03',
      'D05',
      'D22',
      'D26',
      'E06',
      'E07',
      'H04',
    ]);
  }, 30_000);

  it('claims no 405 of a router that answers other methods with 404', async () => {
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

  it('stops at once when its signal is aborted', async () => {
    const { url, close } = await listen(receiver());
    const controller = new AbortController();
    const audit = auditReceiver({
      url,
      secret,
      signal: controller.signal,
      onResult: () => controller.abort(new Error('enough')),
    });
    await expect(audit).rejects.toThrow('enough');
    await close();
  });

  it.each<[what: string, wrong: Partial<AuditOptions>, message: string]>([
    ['something that is not an address', { url: 'receiver' }, 'url'],
    ['an address of another protocol', { url: 'ftp://receiver/' }, 'url'],
    ['a password in the address', { url: 'http://user:hidden-word@127.0.0.1/' }, 'requestHeaders'],
    ['an empty secret', { secret: '' }, 'secret is empty'],
    ['no secret', { secret: undefined as unknown as string }, 'secret must be'],
    ['a time of zero', { timeout: 0 }, 'timeout'],
    ['no time for the first answer', { firstAnswer: 0 }, 'firstAnswer'],
    ['no time for a credit', { settle: 0 }, 'settle'],
    ['too many at once', { concurrency: 33 }, 'concurrency'],
    ['credits that are not a function', { credits: 5 as never }, 'credits'],
    ['headers of a request in place of header names', { headers: OF_A_REQUEST }, 'requestHeaders'],
    ['a header that cannot be one', { requestHeaders: { 'X-Tunnel': 'a\r\nb' } }, 'requestHeaders'],
  ])('refuses %s, and sends nothing', async (_, wrong, message) => {
    const audit = auditReceiver({ url: 'http://127.0.0.1:9/', secret, ...wrong });
    await expect(audit).rejects.toThrow(TypeError);
    await expect(audit).rejects.toThrow(message);
    await expect(audit).rejects.not.toThrow('hidden-word');
  });
});
