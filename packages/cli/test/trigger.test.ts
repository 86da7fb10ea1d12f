import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { adviceFor } from '../src/receiver/answer-advice.js';
import { post, type Answer } from '../src/receiver/post.js';
import { newFolder, paylink, paylinkProcess, SECRET, words } from './paylink.js';
import { bodyOf, openShop, serve, signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const trigger = (args: readonly string[]) => paylink(['trigger', ...args], { env });

// Line breaks are the program's own.
const ACTED_ON = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A server that records each request byte for byte. */
async function record(
  reply: { status?: number; headers?: Record<string, string>; body?: string } = {},
) {
  const received: Received[] = [];
  const url = await serve(async (req, res) => {
    received.push({ headers: req.headers, body: await bodyOf(req) });
    res.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '');
  });
  return { url, received };
}

describe('paylink trigger', () => {
  it('sends a notification that a receiver accepts', async () => {
    const shop = await openShop();
    const result = await trigger(words`payment.succeeded --to ${shop.url} --reference order-42`);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(shop.credited).toEqual(['order-42']);
    expect(result.stdout).toContain(
      `POST ${shop.url}\npayment.succeeded for order-42, 24 bytes, signed\n`,
    );
    expect(result.stdout).toMatch(
      /\n {2}1 {2}200 {2}\d+ ms {2}\{"received":true\}\n\n1 of 1 accepted \(2xx\)\n$/,
    );
  });

  it('prints the signed notification with --print, and sends nothing', async () => {
    const { url, received } = await record();
    const args = words`--print --to ${url} --reference order-é`;
    const body = '{"reference":"order-é"}';
    const headers = {
      'content-type': 'application/json',
      'x-service-event': 'payment.succeeded',
      'x-service-signature': signatureOf(body),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    expect(await trigger(args)).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: `${lines.join('')}\n${body}\n`,
    });
    const { stdout } = await trigger([...args, '--json']);
    const signature = signatureOf(body);
    expect(JSON.parse(stdout)).toEqual({ signature, bytes: 24, headers, body });
    expect(received).toEqual([]);
    expect((await trigger(words`--reference a`)).stderr).toContain('no --to: pass the address');
  });

  it.each(['payment.succeded', 'payments.succeeded', 'Payment.Succeeded', 'payment_succeeded'])(
    'suggests the right kind for %s, and sends nothing',
    async (kind) => {
      const { url, received } = await record();
      const { code, stderr } = await trigger(words`${kind} --to ${url} --reference a`);
      expect({ code, received }).toEqual({ code: 2, received: [] });
      expect(stderr).toContain('did you mean payment.succeeded?');
    },
  );

  it('sends all notifications of --times at once, and numbers the replies from 1', async () => {
    const waiting: (() => void)[] = [];
    // Answers only after all have come.
    const url = await serve((_req, res) => {
      waiting.push(() => res.end());
      if (waiting.length === 8) waiting.forEach((answer) => answer());
    });
    const { code, stdout } = await trigger(words`--to ${url} --reference a --times 8 --json`);
    expect(code).toBe(0);
    const deliveries = Array.from({ length: 8 }, (_, at) => ({ number: at + 1, status: 200 }));
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, accepted: 8, reference: 'a', deliveries });
  });

  it('exits with 1 if the receiver accepts only some of --times', async () => {
    let count = 0;
    const url = await serve((_req, res) => res.writeHead(count++ === 0 ? 200 : 503).end());
    const { code, stdout } = await trigger(words`--to ${url} --reference a --times 2`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ *1 +.*\n *2 +[^]*1 of 2 accepted/m);
  });

  it('exits with 1 and suggests a check if the receiver refuses the notification', async () => {
    const shop = await openShop();
    const args = words`--to ${shop.url} --reference order-42 --secret another-secret-of-a-portal`;
    const { code, stdout } = await trigger(args);
    expect(code).toBe(1);
    expect(stdout).toContain('0 of 1 accepted');
    expect(stdout).toContain('Compare the secrets on both sides');
    expect(stdout).not.toContain('another-secret-of-a-portal');
    expect(shop.credited).toEqual([]);
  });

  const TO_OTHER = { location: 'http://127.0.0.1:1/' };
  const TO_LOGIN = { location: '/login?next=secret' };
  const HTML = { 'content-type': 'text/html' };
  it.each<[string, number, Record<string, string>, string, RegExp]>([
    ['a redirect', 301, TO_OTHER, '', /to http:\/\/127\.0\.0\.1:1\/: the service does not follow/],
    ['a redirect to a login', 302, TO_LOGIN, '', /to http:\S+\/login\?…: a login stands in front/],
    ['a missing route', 404, {}, '', /path has no route/],
    ['another method', 405, {}, '', /not for POST/],
    ['a refused content type', 415, {}, '', /content type/],
    ['a refusal', 422, {}, '', /rejected the notification/],
    ['a failing server', 503, {}, '', /read its log/],
    [
      'an HTML page',
      200,
      HTML,
      '<html>shop</html>',
      /answered \(200, text\/html\): .* a catch-all/,
    ],
    ['a rate limiter', 429, { 'retry-after': '9' }, '', /A rate limiter in front of the webhook/],
    ['a firewall', 403, { server: 'waf' }, 'no', /answered \(403, no content-type, server: waf\)/],
    ['compression', 415, {}, '{"error":"unsupported_encoding"}', /The body arrived compressed/],
    ['unavailable orders', 503, {}, '{"error":"orders_unavailable"}', /check the database/],
  ])('explains %s', async (_, status, headers, body, message) => {
    const { url } = await record({ status, headers, body });
    const answer = await post(new Request(url, { method: 'POST' }), 10_000);
    const advice = adviceFor(answer as Answer, new URL(url));
    expect(advice).toMatch(message);
    expect(advice).not.toContain('next=secret');
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await record();
    const location = `${elsewhere.url}/?next=secret`;
    const { url } = await record({ status: 307, headers: { location } });
    const { code, stdout } = await trigger(words`--to ${url} --reference a`);
    expect(code).toBe(1);
    expect(stdout).toContain(`a redirect to ${elsewhere.url}/?…: the service does not follow`);
    expect(elsewhere.received).toEqual([]);
  });

  it('exits with 1 if the server does not listen, hangs or closes the connection', async () => {
    const hung = await serve(() => undefined);
    const dropped = await serve((req) => req.socket.destroy());
    for (const [url, timeout, message] of [
      ['http://127.0.0.1:9/', '30s', 'fetch refuses port 9'],
      ['http://127.0.0.1:2/', '30s', 'nothing listens at 127.0.0.1:2'],
      [hung, '0.2s', 'no answer in time'],
      [dropped, '30s', 'closed the connection without an answer'],
    ] as const) {
      const { code, stdout } = await trigger(words`--to ${url} --reference a --timeout ${timeout}`);
      expect(code).toBe(1);
      expect(stdout).toContain(message);
    }
  });

  it('prints an answer whose body never ends', async () => {
    const url = await serve((_req, res) => void res.writeHead(200).write('begun'));
    const { code, stdout } = await trigger(words`--to ${url} --reference a --timeout 0.5s`);
    expect(code).toBe(0);
    expect(stdout).toContain('begun');
  });

  it('sends the exact bytes of a file or of stdin, also if they are not text', async () => {
    const { url, received } = await record();
    const bytes = Buffer.from([0x7b, 0x20, 0x0d, 0x0a, 0xff, 0x00, 0x7d, 0x0a]);
    const file = join(newFolder(), 'body');
    writeFileSync(file, bytes);
    expect((await trigger(words`--to ${url} --body ${file}`)).code).toBe(0);
    const fromStdin = words`trigger --to ${url} --body -`;
    expect((await paylinkProcess(fromStdin, { env, stdin: bytes })).code).toBe(0);
    expect(received.map(({ body }) => body)).toEqual([bytes, bytes]);
  });

  it('adds --header without replacing the signature', async () => {
    const { url, received } = await record();
    const headers = ['--header', 'X-Tunnel: open:sesame', '--header', 'x-service-signature: 0'];
    const args = words`payment.tested --to ${url} --reference a ${headers}`;
    expect((await trigger(args)).code).toBe(0);
    const [{ headers: sent }] = received as [Received];
    expect(sent).toMatchObject({ 'x-service-event': 'payment.tested', 'x-tunnel': 'open:sesame' });
    expect(sent['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['--reference is missing', '', /no --reference/],
    ['the file of --body does not exist', '--body /no/such/file', /--body: .*ENOENT/],
    ['the event is no event kind', 'Refunded! --reference a', /must be an event kind/],
  ])('exits with 2 and sends nothing if %s', async (_, line, message) => {
    const { code, stdout, stderr } = await trigger(
      words`${line.split(' ').filter(Boolean)} --to http://localhost:1/`,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('prints foreign text without control characters', async () => {
    const evil = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066paid\u2028\r\nFake: line';
    const { url } = await record({ status: 400, body: `${evil}</html>` });
    const plain = await trigger(words`--to ${url}/?token=t0ken-of-a-tunnel --reference ${evil}`);
    expect(plain.code).toBe(1);
    // Only printable characters and the program's own line breaks.
    expect(plain.stdout).not.toMatch(ACTED_ON);
    expect(plain.stdout).toContain(
      String.raw`\x1b[2J\x1b]0;title\x07\x9b31m\u202e\u2066paid\u2028\x0d\x0aFake: line`,
    );
    expect(plain.stdout).not.toMatch(/^Fake/m);
    expect(plain.stdout).not.toContain('t0ken');
    const json = await trigger(words`--to ${url} --reference ${evil} --json`);
    expect(json.stdout).not.toMatch(ACTED_ON);
    const deliveries = [{ body: `${evil}</html>` }];
    expect(JSON.parse(json.stdout)).toMatchObject({ reference: evil, deliveries });
  });

  it.each([[[]], [['--json']]])(
    'prints no secret, signature, header or query that the server echoes (%j)',
    async (extra) => {
      const url = await serve((req, res) => {
        const { searchParams } = new URL(req.url!, 'http://localhost');
        const { authorization = '', 'x-service-signature': signature } = req.headers;
        const [, token] = authorization.split(' ');
        const echo = [SECRET, signature, req.url, searchParams.get('token'), token, authorization];
        res.end(echo.join(' '));
      });
      const header = 'Authorization: Bearer bearer-of-a-tunnel';
      const address = `${url}/?token=t0ken%2Fof+a+tunnel&v=1`;
      const { stdout } = await trigger(
        words`--to ${address} --reference a --header ${header} ${extra}`,
      );
      expect(stdout).toContain('[hidden] [hidden] /?[hidden] [hidden] [hidden] [hidden]');
      expect(stdout).not.toMatch(/[0-9a-f]{64}|t0ken|bearer-of/);
    },
  );

  it('hides a secret also in its JSON-quoted form', async () => {
    const secret = 'says "quoted\\" twice';
    const url = await serve((_req, res) => res.end(JSON.stringify({ secret })));
    const { stdout } = await trigger(words`--to ${url} --reference a --secret ${secret}`);
    expect(stdout).toContain('{"secret":"[hidden]"}');
  });

  it('sends *.localhost to this machine, with the name in the Host header', async () => {
    const { url, received } = await record();
    const named = url.replace('127.0.0.1', 'shop.localhost');
    const { code } = await paylinkProcess(words`trigger --to ${named} --reference a`, { env });
    expect([code, received[0]!.headers.host]).toEqual([0, new URL(named).host]);
    expect(JSON.parse(received[0]!.body.toString())).toEqual({ reference: 'a' });
  });

  it('reads only the beginning of a reply of 64 MB', async () => {
    let closed: Promise<unknown> | undefined;
    let socket: Socket | undefined;
    const url = await serve((req, res) => {
      socket = req.socket;
      // Not once() of node:events, which a reset would reject.
      closed = new Promise((resolve) => socket!.once('close', resolve));
      Readable.from(Array<Buffer>(1_024).fill(Buffer.alloc(65_536, 'x'))).pipe(res);
    });
    const answer = (await post(new Request(url, { method: 'POST' }), 60_000)) as Answer;
    expect(answer.body).toHaveLength(16_384);
    await closed;
    expect(socket!.bytesWritten).toBeLessThan(32 * 1_024 * 1_024);
  });

  it('prints only the beginning of a long reply, and no half of a secret at its end', async () => {
    const before = 'x'.repeat(290);
    const { url } = await record({ status: 500, body: `${before}${SECRET}${before.repeat(300)}` });
    const { stdout } = await trigger(words`--to ${url} --reference a`);
    expect(stdout).toContain(`${before}[hidden]xx…`);
    expect(stdout.length).toBeLessThan(1_000);
  });
});
